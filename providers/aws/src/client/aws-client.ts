/** The APIs of AWS that the provider calls, each operation by the names of the API reference. Entry point: `createAwsClient`. */
import { CloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { proxiesOf, type Fetch } from '@outrigger/provider-kit';
import { ApiClient } from './api-client.ts';
import type { ServiceName } from './call-limits.ts';
import { RoleSource, type SendSts } from './credentials/assume-role.ts';
import { ContainerCredentials } from './credentials/container-credentials.ts';
import { credentialChain } from './credentials/credential-chain.ts';
import { isSet, type Environment } from './credentials/environment.ts';
import { profileName, readProfiles } from './credentials/profiles.ts';
import { endpointOf, type EndpointOverride } from './endpoints.ts';
import { ec2 } from './generated/ec2-api.ts';
import type { CalledOperations as Ec2Operations } from './generated/ec2.ts';
import { elb } from './generated/elb-api.ts';
import type { CalledOperations as ElbOperations } from './generated/elb.ts';
import { elbv2 } from './generated/elbv2-api.ts';
import type { CalledOperations as Elbv2Operations } from './generated/elbv2.ts';
import { sts } from './generated/sts-api.ts';
import type { CalledOperations as StsOperations } from './generated/sts.ts';
import { InstanceMetadata } from './instance-metadata.ts';
import { RequestSigner, type CredentialSource } from './request-signer.ts';
import type { AwsCredentials } from './sign-request.ts';

/** Sends one request of a service, and resolves to what it answers. Rejects with a `CloudError`; `awsCodeOf` has AWS' own code of it. */
export type ServiceClient<Operations extends object> = <Name extends keyof Operations & string>(
  call: CallContext,
  operation: Name,
  input: Operations[Name] extends { readonly input: infer Input } ? Input : never,
) => Promise<Operations[Name] extends { readonly output: infer Output } ? Output : never>;

export interface AwsClient extends AsyncDisposable {
  /** `eu-central-1`: the one that is configured, else asked for once. Rejects with a `CloudError` where none is to be found. */
  region(call: CallContext): Promise<string>;
  /**
   * What the instance that this runs on knows of itself, at `/latest/…`: `meta-data/instance-id`. `undefined`: there is no such thing. Rejects
   * where there is no metadata service.
   */
  metadata(call: CallContext, path: string): Promise<string | undefined>;
  readonly ec2: ServiceClient<Ec2Operations>;
  readonly elb: ServiceClient<ElbOperations>;
  readonly elbv2: ServiceClient<Elbv2Operations>;
  readonly sts: ServiceClient<StsOperations>;
}

export interface AwsClientOptions {
  readonly host: Pick<ProviderHost, 'callContext' | 'clock' | 'logger' | 'redact'>;
  /** `eu-central-1`. Default: `AWS_REGION`, `AWS_DEFAULT_REGION`, that of the profile, that of the instance. */
  readonly region?: string | undefined;
  /** Default: what `credentialChain` finds. */
  readonly credentials?: AwsCredentials | undefined;
  /** A role that is assumed with these credentials. Default: none. */
  readonly role?: { readonly arn: string; readonly sourceArn?: string | undefined } | undefined;
  /** Sections `[ServiceOverride]`. Default: none. */
  readonly endpoints?: readonly EndpointOverride[] | undefined;
  /** Default: the process' own. */
  readonly env?: Environment | undefined;
  /** What else goes into `User-Agent`. */
  readonly userAgent?: readonly string[] | undefined;
  /** Sends in place of connections of its own. */
  readonly fetch?: Fetch | undefined;
}

/** No I/O: region, end points and credentials are found when the first request needs them. */
export function createAwsClient(options: AwsClientOptions): AwsClient {
  const { endpoints: overrides, env = process.env, fetch, host, role, userAgent = [] } = options;
  const metadata = new InstanceMetadata({ host, env, overrides, fetch });
  const container = new ContainerCredentials({ host, env, fetch });
  const region = keptOnce((call) => findRegion(options, env, metadata, call));
  const proxies = proxiesOf(env);
  const opened: AsyncDisposable[] = [metadata, container];
  const client = (service: ServiceName, signer?: RequestSigner): ApiClient => {
    const api = APIS[service];
    const made = new ApiClient({
      host,
      service,
      api,
      endpoint: async (call) => endpointOf(api, await region(call), { env, overrides }),
      signer,
      userAgent: ['outrigger', ...userAgent].join(' '),
      fetch,
      proxies,
    });
    opened.push(made);
    return made;
  };
  const signedBy = (source: CredentialSource): SendSts => client('sts', new RequestSigner(host, source)).send;
  const roles = new RoleSource(host, client('sts').send, signedBy);
  const { credentials } = options;
  const base: CredentialSource = credentials
    ? () => Promise.resolve(credentials)
    : credentialChain({ env, metadata, container, roles });
  const signer = new RequestSigner(host, role ? roles.byCredentials(base, role) : base);
  return {
    region,
    metadata: (call, path) => metadata.read(call, path),
    ec2: client('ec2', signer).send as ServiceClient<Ec2Operations>,
    elb: client('elb', signer).send as ServiceClient<ElbOperations>,
    elbv2: client('elbv2', signer).send as ServiceClient<Elbv2Operations>,
    sts: client('sts', signer).send as ServiceClient<StsOperations>,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

const APIS = { ec2, elb, elbv2, sts };

async function findRegion(
  { region }: AwsClientOptions,
  env: Environment,
  metadata: InstanceMetadata,
  call: CallContext,
): Promise<string> {
  const said = [region, env['AWS_REGION'], env['AWS_DEFAULT_REGION']].find(isSet);
  if (said !== undefined) return said;
  const ofProfile = (await readProfiles(env))[profileName(env)]?.['region'];
  if (isSet(ofProfile)) return ofProfile;
  const own = await metadata.read(call, 'meta-data/placement/region');
  if (isSet(own)) return own;
  throw new CloudError('configuration', 'no region is known: name it in the cloud config (Region), or in AWS_REGION');
}

/** What was found is found for good; a failure is asked about again. */
function keptOnce<T>(find: (call: CallContext) => Promise<T>): (call: CallContext) => Promise<T> {
  let found: T | undefined;
  return async (call) => (found ??= await find(call));
}
