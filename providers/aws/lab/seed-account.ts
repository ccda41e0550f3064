/** What an installer makes of an account for a cluster: a network in two zones, and instances. By the official SDK, in moto. */
import {
  AssociateRouteTableCommand,
  AttachInternetGatewayCommand,
  CreateInternetGatewayCommand,
  CreateRouteCommand,
  CreateRouteTableCommand,
  CreateSecurityGroupCommand,
  CreateSubnetCommand,
  CreateTagsCommand,
  CreateVpcCommand,
  DescribeImagesCommand,
  EC2Client,
  ModifyVpcAttributeCommand,
  RunInstancesCommand,
} from '@aws-sdk/client-ec2';

export const LAB_REGION = 'us-east-1';
export const LAB_CLUSTER = 'lab';
export const LAB_KEYS: { readonly accessKeyId: string; readonly secretAccessKey: string } = {
  accessKeyId: 'AKIALABLABLABLABLAB',
  secretAccessKey: 'lab-secret',
};
/** For a program that is to use these keys, there, and nothing of the machine that it runs on. */
export const LAB_ENV: Readonly<Record<string, string>> = {
  AWS_ACCESS_KEY_ID: LAB_KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: LAB_KEYS.secretAccessKey,
  AWS_REGION: LAB_REGION,
  AWS_EC2_METADATA_DISABLED: 'true',
};
const ZONES = ['a', 'b'].map((letter) => LAB_REGION + letter);

export interface SeededInstance {
  /** `i-…`. */
  readonly id: string;
  /** Its private DNS name, which the node is called by. */
  readonly name: string;
  readonly address: string;
  readonly zone: string;
}

/** All of it has the tag of the cluster {@link LAB_CLUSTER}. */
export interface SeededAccount {
  readonly vpcId: string;
  /** One in each of two zones. */
  readonly subnetIds: readonly string[];
  readonly routeTableId: string;
  /** Of the nodes. */
  readonly securityGroupId: string;
  readonly instances: readonly SeededInstance[];
}

/** The official SDK, as one who reads and who makes machines. `url`: of moto, or of the fake. */
export function labEc2(url: string): EC2Client {
  return new EC2Client({ endpoint: url, region: LAB_REGION, credentials: LAB_KEYS, maxAttempts: 1 });
}

export async function seedAccount(ec2: EC2Client, instances: number): Promise<SeededAccount> {
  const tags = [{ Key: `kubernetes.io/cluster/${LAB_CLUSTER}`, Value: 'owned' }];
  const { Vpc: vpc } = await ec2.send(
    new CreateVpcCommand({ CidrBlock: '10.0.0.0/16', AmazonProvidedIpv6CidrBlock: true }),
  );
  const vpcId = known(vpc?.VpcId);
  await ec2.send(new ModifyVpcAttributeCommand({ VpcId: vpcId, EnableDnsHostnames: { Value: true } }));
  const gateway = await ec2.send(new CreateInternetGatewayCommand({}));
  const gatewayId = known(gateway.InternetGateway?.InternetGatewayId);
  await ec2.send(new AttachInternetGatewayCommand({ InternetGatewayId: gatewayId, VpcId: vpcId }));
  const table = await ec2.send(new CreateRouteTableCommand({ VpcId: vpcId }));
  const routeTableId = known(table.RouteTable?.RouteTableId);
  await ec2.send(
    new CreateRouteCommand({ RouteTableId: routeTableId, DestinationCidrBlock: '0.0.0.0/0', GatewayId: gatewayId }),
  );
  const group = await ec2.send(
    new CreateSecurityGroupCommand({ GroupName: 'nodes', Description: 'nodes', VpcId: vpcId }),
  );
  const securityGroupId = known(group.GroupId);
  const subnetIds: string[] = [];
  for (const [i, AvailabilityZone] of ZONES.entries()) {
    const subnet = await ec2.send(
      new CreateSubnetCommand({ VpcId: vpcId, CidrBlock: `10.0.${16 * i}.0/20`, AvailabilityZone }),
    );
    const id = known(subnet.Subnet?.SubnetId);
    await ec2.send(new AssociateRouteTableCommand({ RouteTableId: routeTableId, SubnetId: id }));
    subnetIds.push(id);
  }
  await ec2.send(new CreateTagsCommand({ Resources: [routeTableId, securityGroupId], Tags: tags }));
  const roles = ['elb', 'internal-elb'].map((role) => ({ Key: `kubernetes.io/role/${role}`, Value: '1' }));
  await ec2.send(new CreateTagsCommand({ Resources: subnetIds, Tags: [...tags, ...roles] }));
  const account = { vpcId, subnetIds, routeTableId, securityGroupId };
  return { ...account, instances: instances === 0 ? [] : await runInstances(ec2, account, instances) };
}

/** More of them, the odd one in the first zone. */
export async function runInstances(
  ec2: EC2Client,
  { securityGroupId, subnetIds }: Pick<SeededAccount, 'securityGroupId' | 'subnetIds'>,
  count: number,
): Promise<readonly SeededInstance[]> {
  const { Images: images } = await ec2.send(new DescribeImagesCommand({ Owners: ['amazon'] }));
  const Tags = [{ Key: `kubernetes.io/cluster/${LAB_CLUSTER}`, Value: 'owned' }];
  const all: SeededInstance[] = [];
  for (const [i, SubnetId] of subnetIds.entries()) {
    const share = Math.ceil((count - i) / subnetIds.length);
    if (share < 1) continue;
    const { Instances: made = [] } = await ec2.send(
      new RunInstancesCommand({
        ImageId: known(images?.[0]?.ImageId),
        MinCount: share,
        MaxCount: share,
        InstanceType: 'm5.large',
        SubnetId,
        SecurityGroupIds: [securityGroupId],
        TagSpecifications: [{ ResourceType: 'instance', Tags }],
      }),
    );
    for (const { InstanceId, Placement, PrivateDnsName, PrivateIpAddress } of made) {
      const [id, name, address, zone] = [InstanceId, PrivateDnsName, PrivateIpAddress, Placement?.AvailabilityZone];
      all.push({ id: known(id), name: known(name), address: known(address), zone: known(zone) });
    }
  }
  return all;
}

function known(value: string | undefined): string {
  if (value) return value;
  throw new Error('moto left out of its answer what every answer of AWS has');
}
