/** The managers of others, on moto or the fake: to record what they make, to count what they ask for, and to migrate from. */
import { silentLogger, type Logger } from '@outrigger/kube';
import { cachedGoProgram } from '@outrigger/testing';
import { LAB_CLUSTER, LAB_REGION, type SeededAccount } from './seed-account.ts';

const MODULE = { module: 'k8s.io/cloud-provider-aws', version: 'v1.37.0' };
const NAME = 'aws-cloud-controller-manager';
/** As the SDK that it is built with names them; the last is asked by ours alone. */
const SERVICES = ['EC2', 'Elastic Load Balancing', 'Elastic Load Balancing v2', 'STS'];
/** As the SDK before that names them, with which the provider inside of Kubernetes was built: it has one name for both APIs of load balancers. */
export const IN_TREE_SERVICES: readonly string[] = ['ec2', 'elasticloadbalancing', 'sts'];

const telling: Logger = { ...silentLogger, info: (message) => void process.stderr.write(`${message}\n`) };

/** Its path. Built once, in six minutes of CPU and more. Rejects with code `ENOENT` where there is no Go. */
export function buildOfficial(): Promise<string> {
  const source = `${MODULE.module}/cmd/${NAME}`;
  return cachedGoProgram({ name: NAME, ...MODULE, source, linkerFlags: '-s -w' }, { logger: telling });
}

/** Their cloud config, which ours reads too. `global`: more lines of `[Global]`. `services`: names of those that are asked at the URL. */
export function officialConfig(
  { subnetIds: [subnetId = ''], vpcId }: Pick<SeededAccount, 'subnetIds' | 'vpcId'>,
  url: string,
  global: readonly string[] = [],
  services: readonly string[] = SERVICES,
): string {
  const first = [
    `Zone = ${LAB_REGION}a`,
    `VPC = ${vpcId}`,
    `SubnetID = ${subnetId}`,
    `KubernetesClusterID = ${LAB_CLUSTER}`,
  ];
  const overrides = services.map(
    (service, i) =>
      `[ServiceOverride "${i + 1}"]\nService = ${service}\nRegion = ${LAB_REGION}\nURL = ${url}\nSigningRegion = ${LAB_REGION}\n`,
  );
  return `[Global]\n${[...first, ...global].join('\n')}\n${overrides.join('')}`;
}
