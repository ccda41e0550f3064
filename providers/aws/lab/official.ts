/** The managers of others, on moto or the fake: to record what they make, to count what they ask for, and to migrate from. */
import { silentLogger, type Logger } from '@outrigger/kube';
import { cachedGoProgram, kubernetesProgram } from '@outrigger/testing';
import { LAB_CLUSTER, LAB_REGION, type SeededAccount } from './seed-account.ts';

const MODULE = { module: 'k8s.io/cloud-provider-aws', version: 'v1.37.0' };
const NAME = 'aws-cloud-controller-manager';
/** Of the last minor release whose kube-controller-manager has the provider of AWS. */
const IN_TREE = 'v1.26.13';
/** As the SDK that it is built with names them; the last is asked by ours alone. */
const SERVICES = ['EC2', 'Elastic Load Balancing', 'Elastic Load Balancing v2', 'STS'];
/** As the SDK before names them, which has one name for both APIs of load balancers. */
export const IN_TREE_SERVICES: readonly string[] = ['ec2', 'elasticloadbalancing', 'sts'];

const telling: Logger = { ...silentLogger, info: (message) => void process.stderr.write(`${message}\n`) };

/** Its path. Built once, in six minutes of CPU and more. Rejects with code `ENOENT` where there is no Go. */
export function buildOfficial(): Promise<string> {
  const source = `${MODULE.module}/cmd/${NAME}`;
  return cachedGoProgram({ name: NAME, ...MODULE, source, linkerFlags: '-s -w' }, { logger: telling });
}

/** The path of a kube-controller-manager with the provider that was inside of Kubernetes, which takes ten minutes to build. */
export function buildInTree(): Promise<string> {
  const program = kubernetesProgram(IN_TREE, 'k8s.io/kubernetes/cmd/kube-controller-manager');
  return cachedGoProgram({ name: 'kube-controller-manager-in-tree', ...program }, { logger: telling });
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
