/** The actions of IAM that each capability needs. A test holds these lists to the operations that the code names. */
import type { CloudPermissions } from '@outrigger/cloud-provider';

const actionsOf =
  (service: string) =>
  (...operations: readonly string[]): readonly string[] =>
    operations.map((operation) => `${service}:${operation}`);
const ec2 = actionsOf('ec2');
const elb = actionsOf('elasticloadbalancing');

export const permissions: CloudPermissions = {
  instances: ec2(
    'DescribeAvailabilityZones',
    'DescribeInstanceTopology',
    'DescribeInstances',
    'DescribeNetworkInterfaces',
  ),
  loadBalancers: [
    ...ec2(
      'AuthorizeSecurityGroupIngress',
      'CreateSecurityGroup',
      'CreateTags',
      'DeleteSecurityGroup',
      'DeleteTags',
      'DescribeAddresses',
      'DescribeAvailabilityZones',
      'DescribeInstances',
      'DescribeNetworkInterfaces',
      'DescribeRouteTables',
      'DescribeSecurityGroupRules',
      'DescribeSecurityGroups',
      'DescribeSubnets',
      'RevokeSecurityGroupIngress',
    ),
    ...elb(
      'AddTags',
      'ApplySecurityGroupsToLoadBalancer',
      'AttachLoadBalancerToSubnets',
      'ConfigureHealthCheck',
      'CreateListener',
      'CreateLoadBalancer',
      'CreateLoadBalancerListeners',
      'CreateLoadBalancerPolicy',
      'CreateTargetGroup',
      'DeleteListener',
      'DeleteLoadBalancer',
      'DeleteLoadBalancerListeners',
      'DeleteTargetGroup',
      'DeregisterInstancesFromLoadBalancer',
      'DeregisterTargets',
      'DescribeInstanceHealth',
      'DescribeListeners',
      'DescribeLoadBalancerAttributes',
      'DescribeLoadBalancers',
      'DescribeTags',
      'DescribeTargetGroupAttributes',
      'DescribeTargetGroups',
      'DescribeTargetHealth',
      'DetachLoadBalancerFromSubnets',
      'ModifyListener',
      'ModifyLoadBalancerAttributes',
      'ModifyTargetGroup',
      'ModifyTargetGroupAttributes',
      'RegisterInstancesWithLoadBalancer',
      'RegisterTargets',
      'RemoveTags',
      'SetIpAddressType',
      'SetLoadBalancerListenerSSLCertificate',
      'SetLoadBalancerPoliciesForBackendServer',
      'SetLoadBalancerPoliciesOfListener',
      'SetSecurityGroups',
      'SetSubnets',
    ),
    'iam:CreateServiceLinkedRole',
  ],
  routes: ec2(
    'CreateRoute',
    'DeleteRoute',
    'DescribeInstances',
    'DescribeNetworkInterfaces',
    'DescribeRouteTables',
    'ModifyNetworkInterfaceAttribute',
    'ReplaceRoute',
  ),
  volumes: ec2('DescribeVolumes'),
  nodeTags: ec2('CreateTags'),
};
