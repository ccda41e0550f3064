/** What EC2 answers of a page of instances, with all the elements that it has of each: some 4 KB, of which the provider reads a quarter. */
const block = (n: number): string => {
  const hex = n.toString(16).padStart(8, '0');
  const ip = `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  const dns = `ip-${ip.replaceAll('.', '-')}.eu-central-1.compute.internal`;
  const publicDns = `ec2-${ip.replaceAll('.', '-')}.eu-central-1.compute.amazonaws.com`;
  const at = '<attachTime>2026-07-01T09:00:00.000Z</attachTime>';
  const volume = (device: string): string =>
    `<item><deviceName>${device}</deviceName><ebs><volumeId>vol-0${hex}f</volumeId><status>attached</status>${at}<deleteOnTermination>true</deleteOnTermination></ebs></item>`;
  const tag = (key: string, value: string): string => `<item><key>${key}</key><value>${value}</value></item>`;
  const group = '<item><groupId>sg-0123456789abcdef0</groupId><groupName>nodes</groupName></item>';
  const address = `<privateIpAddress>${ip}</privateIpAddress><privateDnsName>${dns}</privateDnsName>`;
  const association = `<association><publicIp>52.${ip.slice(3)}</publicIp><publicDnsName>${publicDns}</publicDnsName><ipOwnerId>amazon</ipOwnerId></association>`;
  const network = `<item><networkInterfaceId>eni-0${hex}f</networkInterfaceId><subnetId>subnet-0123456789abcdef0</subnetId><vpcId>vpc-0123456789abcdef0</vpcId><description/><ownerId>123456789012</ownerId><status>in-use</status><macAddress>02:00:00:00:00:01</macAddress>${address}<sourceDestCheck>true</sourceDestCheck><groupSet>${group}</groupSet><attachment><attachmentId>eni-attach-0${hex}f</attachmentId><deviceIndex>0</deviceIndex><networkCardIndex>0</networkCardIndex><status>attached</status>${at}<deleteOnTermination>true</deleteOnTermination></attachment>${association}<privateIpAddressesSet><item>${address}<primary>true</primary>${association}</item></privateIpAddressesSet><ipv6AddressesSet/><interfaceType>interface</interfaceType></item>`;
  const tags = [
    tag('Name', `node-${n}`),
    tag('kubernetes.io/cluster/production', 'owned'),
    tag('aws:autoscaling:groupName', 'workers-eu-central-1a'),
    tag('aws:ec2launchtemplate:id', 'lt-0123456789abcdef0'),
    tag('aws:ec2launchtemplate:version', '7'),
    tag('k8s.io/role/node', '1'),
  ];
  return `<item><reservationId>r-0${hex}f</reservationId><ownerId>123456789012</ownerId><groupSet/><instancesSet><item><instanceId>i-0${hex}0123456f</instanceId><imageId>ami-0123456789abcdef0</imageId><instanceState><code>16</code><name>running</name></instanceState>${address}<dnsName>${publicDns}</dnsName><reason/><keyName>operators</keyName><amiLaunchIndex>0</amiLaunchIndex><productCodes/><instanceType>m5.large</instanceType><launchTime>2026-07-01T09:00:00.000Z</launchTime><placement><availabilityZone>eu-central-1a</availabilityZone><availabilityZoneId>euc1-az2</availabilityZoneId><groupName/><tenancy>default</tenancy></placement><monitoring><state>disabled</state></monitoring><subnetId>subnet-0123456789abcdef0</subnetId><vpcId>vpc-0123456789abcdef0</vpcId><ipAddress>52.${ip.slice(3)}</ipAddress><sourceDestCheck>true</sourceDestCheck><groupSet>${group}</groupSet><architecture>x86_64</architecture><rootDeviceType>ebs</rootDeviceType><rootDeviceName>/dev/xvda</rootDeviceName><blockDeviceMapping>${['/dev/xvda', '/dev/xvdb', '/dev/xvdc'].map(volume).join('')}</blockDeviceMapping><virtualizationType>hvm</virtualizationType><clientToken>fleet-${hex}-0000-4000-8000-000000000000</clientToken><tagSet>${tags.join('')}</tagSet><hypervisor>xen</hypervisor><networkInterfaceSet>${network}</networkInterfaceSet><iamInstanceProfile><arn>arn:aws:iam::123456789012:instance-profile/nodes</arn><id>AIPA0123456789ABCDEFG</id></iamInstanceProfile><ebsOptimized>true</ebsOptimized><enaSupport>true</enaSupport><cpuOptions><coreCount>1</coreCount><threadsPerCore>2</threadsPerCore></cpuOptions><capacityReservationSpecification><capacityReservationPreference>open</capacityReservationPreference></capacityReservationSpecification><hibernationOptions><configured>false</configured></hibernationOptions><metadataOptions><state>applied</state><httpTokens>required</httpTokens><httpPutResponseHopLimit>2</httpPutResponseHopLimit><httpEndpoint>enabled</httpEndpoint><httpProtocolIpv6>disabled</httpProtocolIpv6><instanceMetadataTags>disabled</instanceMetadataTags></metadataOptions><enclaveOptions><enabled>false</enabled></enclaveOptions><bootMode>uefi-preferred</bootMode><platformDetails>Linux/UNIX</platformDetails><usageOperation>RunInstances</usageOperation><usageOperationUpdateTime>2026-07-01T09:00:00.000Z</usageOperationUpdateTime><privateDnsNameOptions><hostnameType>ip-name</hostnameType><enableResourceNameDnsARecord>false</enableResourceNameDnsARecord><enableResourceNameDnsAAAARecord>false</enableResourceNameDnsAAAARecord></privateDnsNameOptions><maintenanceOptions><autoRecovery>default</autoRecovery></maintenanceOptions><currentInstanceBootMode>uefi</currentInstanceBootMode></item></instancesSet></item>`;
};

export function instancesAnswer(count: number): string {
  const items = Array.from({ length: count }, (_, n) => block(n + 4));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0</requestId><reservationSet>${items.join('')}</reservationSet></DescribeInstancesResponse>`;
}
