/** cloud-provider-aws itself, on moto or the fake: to record what it makes, and to count what it asks for. */
import { silentLogger, type Logger } from '@outrigger/kube';
import { cachedGoProgram } from '@outrigger/testing';
import { LAB_CLUSTER, LAB_REGION, type SeededAccount } from './seed-account.ts';

const MODULE = { module: 'k8s.io/cloud-provider-aws', version: 'v1.37.0' };
const NAME = 'aws-cloud-controller-manager';
/** As the SDK that it is built with names them; the last is asked by ours alone. */
const SERVICES = ['EC2', 'Elastic Load Balancing', 'Elastic Load Balancing v2', 'STS'];

const telling: Logger = { ...silentLogger, info: (message) => void process.stderr.write(`${message}\n`) };

/** Its path. Built once, in six minutes of CPU and more. Rejects with code `ENOENT` where there is no Go. */
export function buildOfficial(): Promise<string> {
  const source = `${MODULE.module}/cmd/${NAME}`;
  return cachedGoProgram({ name: NAME, ...MODULE, source, linkerFlags: '-s -w' }, { logger: telling });
}

/** Its cloud config, which ours reads too. `global`: more lines of `[Global]`. */
export function officialConfig(
  { subnetIds: [subnetId = ''], vpcId }: Pick<SeededAccount, 'subnetIds' | 'vpcId'>,
  url: string,
  global: readonly string[] = [],
): string {
  const first = [
    `Zone = ${LAB_REGION}a`,
    `VPC = ${vpcId}`,
    `SubnetID = ${subnetId}`,
    `KubernetesClusterID = ${LAB_CLUSTER}`,
  ];
  const overrides = SERVICES.map(
    (service, i) =>
      `[ServiceOverride "${i + 1}"]\nService = ${service}\nRegion = ${LAB_REGION}\nURL = ${url}\nSigningRegion = ${LAB_REGION}\n`,
  );
  return `[Global]\n${[...first, ...global].join('\n')}\n${overrides.join('')}`;
}
