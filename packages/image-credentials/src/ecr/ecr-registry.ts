/** Registries of ECR by their names: account, region, partition, and where their API is. */

/** As in the `matchImages` of the shipped configuration. */
export const ECR_REGISTRIES: readonly string[] = [
  '*.dkr.ecr.*.amazonaws.com',
  '*.dkr.ecr.*.amazonaws.com.cn',
  '*.dkr.ecr.*.amazonaws.eu',
  '*.dkr.ecr-fips.*.amazonaws.com',
  '*.dkr-ecr.*.on.aws',
  '*.dkr-ecr-fips.*.on.aws',
  '*.dkr-ecr.*.on.amazonwebservices.com.cn',
  '*.dkr.ecr.*.c2s.ic.gov',
  '*.dkr.ecr.*.sc2s.sgov.gov',
  '*.dkr.ecr.*.cloud.adc-e.uk',
  '*.dkr.ecr.*.csp.hci.ic.gov',
  'public.ecr.aws',
];

export interface EcrRegistry {
  /** `undefined`: ECR Public. */
  readonly account: string | undefined;
  readonly region: string;
  readonly apiUrl: string;
  readonly stsUrl: string;
}

/** A region is more than a label: `sts.s3.amazonaws.com` would be somebody's bucket. */
const PRIVATE =
  /^(?<account>\d{12})\.dkr[.-]ecr(?<fips>-fips)?\.(?<region>[a-z]{2,5}(?:-[a-z]{1,12}){1,3}-\d{1,2})\.(?<suffix>amazonaws\.com(?:\.cn)?|amazonaws\.eu|on\.aws|on\.amazonwebservices\.com\.cn|sc2s\.sgov\.gov|c2s\.ic\.gov|cloud\.adc-e\.uk|csp\.hci\.ic\.gov)$/u;

/** The domain of a partition's API where it is not that of its registries; the former has both IP families. */
const DUAL_STACK: Readonly<Record<string, { readonly api: string; readonly plain: string }>> = {
  'on.aws': { api: 'api.aws', plain: 'amazonaws.com' },
  'on.amazonwebservices.com.cn': { api: 'api.amazonwebservices.com.cn', plain: 'amazonaws.com.cn' },
};

/** ECR Public has its API in one region. */
const PUBLIC: EcrRegistry = {
  account: undefined,
  region: 'us-east-1',
  apiUrl: 'https://api.ecr-public.us-east-1.amazonaws.com',
  stsUrl: 'https://sts.us-east-1.amazonaws.com',
};

/** `undefined`: it is none of ECR. */
export function ecrRegistry(host: string): EcrRegistry | undefined {
  if (host === 'public.ecr.aws') return PUBLIC;
  const { account, fips, region = '', suffix = '' } = PRIVATE.exec(host)?.groups ?? {};
  if (account === undefined) return undefined;
  const dual = DUAL_STACK[suffix];
  const service = fips ? 'ecr-fips' : dual ? 'ecr' : 'api.ecr';
  // In GovCloud the plain name is the one with FIPS.
  const sts = fips && !region.startsWith('us-gov-') ? 'sts-fips' : 'sts';
  return {
    account,
    region,
    apiUrl: `https://${service}.${region}.${dual?.api ?? suffix}`,
    stsUrl: `https://${sts}.${region}.${dual?.plain ?? suffix}`,
  };
}
