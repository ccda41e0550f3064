/** Where a service is asked: by region and partition, or where the administrator says. */
import { CloudError } from '@outrigger/cloud-provider';
import type { ServiceApi } from './service-api.ts';

/** A section `[ServiceOverride]` of the cloud config. */
export interface EndpointOverride {
  /** `EC2`, `Elastic Load Balancing v2`, or the names of older configs: `ec2`, `elasticloadbalancing` for both APIs of ELB. */
  readonly service: string;
  /** Only in this region. Default: in each. */
  readonly region?: string | undefined;
  /** `http://127.0.0.1:5000`. */
  readonly url: string;
  /** Default: the region. */
  readonly signingRegion?: string | undefined;
  /** Default: the service's own. */
  readonly signingName?: string | undefined;
}

export interface EndpointSettings {
  /** Default: none. */
  readonly overrides?: readonly EndpointOverride[] | undefined;
  /** End points that answer over IPv6 too. Default: `AWS_USE_DUALSTACK_ENDPOINT`. */
  readonly dualStack?: boolean | undefined;
  /** FIPS 140. Default: `AWS_USE_FIPS_ENDPOINT`. */
  readonly fips?: boolean | undefined;
  /** Environment variables: these two, `AWS_ENDPOINT_URL`, `AWS_ENDPOINT_URL_EC2` and alike. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Endpoint {
  /** Without a slash at its end. */
  readonly url: string;
  readonly signingRegion: string;
  readonly signingName: string;
}

interface Partition {
  /** Of ARNs. */
  readonly name: string;
  readonly regions: RegExp;
  readonly suffix: string;
  readonly dualStackSuffix: string;
}

/** A region that fits none is one of the first, as the SDKs take it. */
const PARTITIONS: readonly [Partition, ...Partition[]] = [
  { name: 'aws', regions: /^$/u, suffix: 'amazonaws.com', dualStackSuffix: 'api.aws' },
  { name: 'aws-cn', regions: /^cn-/u, suffix: 'amazonaws.com.cn', dualStackSuffix: 'api.amazonwebservices.com.cn' },
  { name: 'aws-us-gov', regions: /^us-gov-/u, suffix: 'amazonaws.com', dualStackSuffix: 'api.aws' },
  { name: 'aws-iso', regions: /^us-iso-/u, suffix: 'c2s.ic.gov', dualStackSuffix: 'api.aws.ic.gov' },
  { name: 'aws-iso-b', regions: /^us-isob-/u, suffix: 'sc2s.sgov.gov', dualStackSuffix: 'api.aws.scloud' },
  { name: 'aws-iso-e', regions: /^eu-isoe-/u, suffix: 'cloud.adc-e.uk', dualStackSuffix: 'api.cloud-aws.adc-e.uk' },
  { name: 'aws-iso-f', regions: /^us-isof-/u, suffix: 'csp.hci.ic.gov', dualStackSuffix: 'api.aws.hci.ic.gov' },
  { name: 'aws-eusc', regions: /^eusc-/u, suffix: 'amazonaws.eu', dualStackSuffix: 'api.amazonwebservices.eu' },
];

/** Throws `configuration` for a URL that is none. */
export function endpointOf(api: ServiceApi, region: string, settings: EndpointSettings): Endpoint {
  const { dualStack, env, fips, overrides = [] } = settings;
  const override = overrides.find((one) => isFor(one, api) && (one.region ?? region) === region);
  const url = override?.url ?? urlInEnvironment(api, env);
  if (url !== undefined) {
    return {
      url: checked(url, api),
      signingRegion: override?.signingRegion ?? region,
      signingName: override?.signingName ?? api.signing,
    };
  }
  const isDualStack = dualStack ?? isTrue(env['AWS_USE_DUALSTACK_ENDPOINT']);
  const isFips = fips ?? isTrue(env['AWS_USE_FIPS_ENDPOINT']);
  const { dualStackSuffix, name, suffix } = partitionWith(region);
  // What GovCloud has is FIPS by its usual name.
  const prefix = isFips && (name !== 'aws-us-gov' || isDualStack) ? `${api.endpoint}-fips` : api.endpoint;
  return {
    url: `https://${prefix}.${region}.${isDualStack ? dualStackSuffix : suffix}`,
    signingRegion: region,
    signingName: api.signing,
  };
}

/** Whether `[ServiceOverride]` names this service. Capitals do not count. */
function isFor({ service }: Pick<EndpointOverride, 'service'>, { endpoint, id }: ServiceApi): boolean {
  const name = service.toLowerCase();
  return name === id.toLowerCase() || name === endpoint;
}

function partitionWith(region: string): Partition {
  return PARTITIONS.find(({ regions }) => regions.test(region)) ?? PARTITIONS[0];
}

function urlInEnvironment({ id }: ServiceApi, env: EndpointSettings['env']): string | undefined {
  if (isTrue(env['AWS_IGNORE_CONFIGURED_ENDPOINT_URLS'])) return undefined;
  const url = env[`AWS_ENDPOINT_URL_${id.toUpperCase().replaceAll(' ', '_')}`] ?? env['AWS_ENDPOINT_URL'];
  return url === '' ? undefined : url;
}

function checked(url: string, { id }: ServiceApi): string {
  if (!/^https?:\/\/[^/]/u.test(url) || !URL.canParse(url)) {
    throw new CloudError(
      'configuration',
      `the URL of the service ${id} is ${JSON.stringify(url)}: write https://host, or http://host:port`,
    );
  }
  return url.replace(/\/+$/u, '');
}

/** As the SDKs read such a variable. */
export function isTrue(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true';
}
