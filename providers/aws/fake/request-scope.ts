/** Which service a request is for, and whether its signature has the form that the service asks for. */
import type { IncomingFakeRequest } from '@outrigger/provider-kit/fake';

export type ServiceName = 'ec2' | 'elbv2' | 'elb' | 'sts';

/** Versions of the APIs; both load balancer APIs are signed for one name. */
const VERSIONS: Readonly<Record<string, ServiceName>> = {
  '2016-11-15': 'ec2',
  '2015-12-01': 'elbv2',
  '2012-06-01': 'elb',
  '2011-06-15': 'sts',
};
const SIGNED_FOR: Readonly<Record<ServiceName, string>> = {
  ec2: 'ec2',
  elbv2: 'elasticloadbalancing',
  elb: 'elasticloadbalancing',
  sts: 'sts',
};

export interface RequestScope {
  readonly service: ServiceName;
  readonly action: string;
  /** Of the access key; `undefined`: the request is not signed. */
  readonly accessKey: string | undefined;
  /** Why the signature does not count; `undefined`: it does. */
  readonly problem: string | undefined;
}

/** `undefined`: it is for none of the services. */
export function scopeOf({ headers, text }: IncomingFakeRequest, region: string): RequestScope | undefined {
  const form = new URLSearchParams(text);
  const action = form.get('Action') ?? '';
  const service = VERSIONS[form.get('Version') ?? ''];
  if (!service) return undefined;
  const authorization = headers['authorization'];
  if (authorization === undefined) {
    // The token in the form is the proof (https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html).
    const problem = action === 'AssumeRoleWithWebIdentity' ? undefined : 'the request is not signed';
    return { service, action, accessKey: undefined, problem };
  }
  const { key, names, scopeRegion, scopeService } =
    /^AWS4-HMAC-SHA256 Credential=(?<key>[\w-]+)\/\d{8}\/(?<scopeRegion>[a-z0-9-]+)\/(?<scopeService>[a-z0-9]+)\/aws4_request, ?SignedHeaders=(?<names>[a-z0-9;-]+), ?Signature=[0-9a-f]{64}$/u.exec(
      authorization,
    )?.groups ?? {};
  return { service, action, accessKey: key, problem: problemOf() };

  function problemOf(): string | undefined {
    if (key === undefined) return 'the header Authorization is no signature of version 4';
    if (scopeService !== SIGNED_FOR[service ?? 'ec2'])
      return `it is signed for ${scopeService ?? ''}, and not for ${service ?? ''}`;
    if (scopeRegion !== region) return `it is signed for ${scopeRegion ?? ''}, and not for ${region}`;
    if (!(names ?? '').split(';').includes('host')) return 'the header Host is not signed';
    return headers['x-amz-date'] === undefined ? 'the header X-Amz-Date is missing' : undefined;
  }
}
