/** From the text of the cloud config to the config. Entry point of this folder. */
import { CloudError, type ConfigText } from '@outrigger/cloud-provider';
import { readConfig, type ConfigOf } from '@outrigger/provider-kit';
import type { AwsConfig, ServiceOverride } from './aws-config.ts';
import { keys, type OverrideKeys } from './config-keys.ts';

/** Instance types of families that AWS has a network topology of. */
const TOPOLOGY_TYPES = /^(?:hpc|trn|p)\d+[a-z]*(?:-[a-z\d]+)?\.[\da-z]*$/u;

/** Throws `configuration` with one line for what a person has to correct. `warn` takes a line for what has no effect. Without a file all is by default. */
export function readAwsConfig(text: ConfigText | undefined, warn: (message: string) => void): AwsConfig {
  const config = text ?? { text: '', fileName: 'the cloud config' };
  const { global, serviceOverride } = readConfig(keys, config, { provider: 'aws', format: 'gcfg', warn });
  const refusal = (why: string): CloudError => new CloudError('configuration', `${config.fileName}: ${why}`);
  const { kubernetesClusterId, kubernetesClusterTag } = global;
  if (
    kubernetesClusterId !== undefined &&
    kubernetesClusterTag !== undefined &&
    kubernetesClusterId !== kubernetesClusterTag
  )
    throw refusal(
      `KubernetesClusterID is ${kubernetesClusterId} and KubernetesClusterTag is ${kubernetesClusterTag}: both name the cluster; leave one out`,
    );
  const path = global.clusterServiceSharedLoadBalancerHealthProbePath;
  return {
    region: global.zone === undefined ? global.region : regionOf(global.zone, refusal),
    vpcId: global.vpc,
    routeTableId: global.routeTableId,
    roleArn: global.roleArn,
    sourceArn: global.sourceArn,
    clusterId: kubernetesClusterTag ?? kubernetesClusterId,
    usesLegacyTags: kubernetesClusterTag !== undefined,
    disableSecurityGroupIngress: global.disableSecurityGroupIngress,
    elbSecurityGroup: global.elbSecurityGroup,
    nlbSecurityGroupMode: global.nlbSecurityGroupMode,
    nodeSecurityGroups: global.nodeSecurityGroups,
    nodeTags: Object.fromEntries(global.nodeTags),
    nodeIpFamilies: [...new Set(global.nodeIpFamilies)],
    clusterHealthProbe: {
      mode: global.clusterServiceLoadBalancerHealthProbeMode,
      port: global.clusterServiceSharedLoadBalancerHealthProbePort,
      path: path.startsWith('/') ? path : `/${path}`,
    },
    topologyTypes: global.supportedTopologyInstanceTypePattern ?? TOPOLOGY_TYPES,
    serviceOverrides: overridesIn(serviceOverride, refusal),
  };
}

/** `eu-central-1a`, and of local zones `us-west-2-lax-1a`. */
function regionOf(zone: string, refusal: (why: string) => CloudError): string {
  const [region] = /^(?:[a-zA-Z]+-)+\d+/u.exec(zone) ?? [];
  if (region === undefined) throw refusal(`Zone is ${zone}, which is no availability zone, such as eu-central-1a`);
  return region;
}

function overridesIn(
  sections: ReadonlyMap<string, ConfigOf<OverrideKeys>>,
  refusal: (why: string) => CloudError,
): readonly ServiceOverride[] {
  const overrides = new Map<string, ServiceOverride>();
  for (const [name, { region, service, signingName, signingRegion, url }] of sections) {
    const at = `[ServiceOverride "${name}"]`;
    if (service === undefined) throw refusal(`${at} needs Service`);
    if (region === undefined) throw refusal(`${at} needs Region`);
    if (url === undefined) throw refusal(`${at} needs URL`);
    if (signingRegion === undefined) throw refusal(`${at} needs SigningRegion`);
    for (const one of service) {
      const id = `${one} ${region.trim()}`;
      if (overrides.has(id)) throw refusal(`${at}: there is another override for the same service in ${region}`);
      overrides.set(id, { service: one, region: region.trim(), url, signingRegion: signingRegion.trim(), signingName });
    }
  }
  return [...overrides.values()];
}
