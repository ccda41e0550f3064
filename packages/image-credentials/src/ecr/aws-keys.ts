/** The keys that a request to AWS is signed with: of the pod's role, of the environment, or of the instance. */
import { quote } from '@outrigger/cloud-provider';
import { Failure } from '../failure.ts';
import { textIn } from '../members.ts';
import { parseObject } from '../protocol.ts';
import type { ProviderCall } from '../provider.ts';
import type { EcrRegistry } from './ecr-registry.ts';

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** As in EKS. */
export const ROLE_ANNOTATION = 'eks.amazonaws.com/ecr-role-arn';

/** A pod whose service account names no role pulls by the node's identity, as with the provider of AWS. */
export async function awsKeys(call: ProviderCall, registry: EcrRegistry): Promise<AwsKeys> {
  const { config, env, request } = call;
  const token = request.serviceAccountToken;
  const role = request.serviceAccountAnnotations[ROLE_ANNOTATION] ?? config.ecr.roleArn;
  const keys =
    token !== undefined && role !== undefined
      ? await assumeRole(call, registry, role, token)
      : (keysOfEnvironment(env) ?? (await keysOfInstance(call)));
  call.conceal(keys.secretAccessKey);
  if (keys.sessionToken !== undefined) call.conceal(keys.sessionToken);
  return keys;
}

const ROLE = /^arn:[a-z-]{3,20}:iam::\d{12}:role\/[\w+=,.@/-]{1,600}$/u;

/** Unsigned: the token is what proves who asks. */
async function assumeRole(
  { config, http }: ProviderCall,
  registry: EcrRegistry,
  role: string,
  token: string,
): Promise<AwsKeys> {
  if (!ROLE.test(role))
    throw new Failure('no-identity', `${quote(role)} is no ARN of a role (annotation ${ROLE_ANNOTATION}, or roleArn)`);
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role,
    RoleSessionName: 'outrigger-image-credentials',
    WebIdentityToken: token,
  }).toString();
  const answer = await http.text({
    service: 'STS',
    method: 'POST',
    url: `${config.ecr.stsUrl ?? registry.stsUrl}/`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  });
  // Three texts of letters, digits, +, / and =, which XML does not escape: no parser is needed.
  const member = (name: string): string => {
    const value = new RegExp(`<${name}>\\s*([\\w+/=-]+)\\s*</${name}>`, 'u').exec(answer)?.[1];
    if (value === undefined) throw new Failure('bad-answer', `the answer of STS has no ${name}`);
    return value;
  };
  return {
    accessKeyId: member('AccessKeyId'),
    secretAccessKey: member('SecretAccessKey'),
    sessionToken: member('SessionToken'),
  };
}

function keysOfEnvironment(env: ProviderCall['env']): AwsKeys | undefined {
  const [accessKeyId, secretAccessKey, sessionToken] = [
    env['AWS_ACCESS_KEY_ID'],
    env['AWS_SECRET_ACCESS_KEY'],
    env['AWS_SESSION_TOKEN'],
  ];
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

/** IMDSv2. Version 1, without a session, is not tried: it is what a forged request can reach. */
async function keysOfInstance({ conceal, config, http }: ProviderCall): Promise<AwsKeys> {
  const service = 'the instance metadata service';
  const base = `${config.ecr.metadataUrl}/latest`;
  const session = await http.text({
    service,
    method: 'PUT',
    url: `${base}/api/token`,
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '60', 'content-length': '0' },
    isMetadata: true,
  });
  conceal(session);
  const headers = { 'x-aws-ec2-metadata-token': session };
  const roles = await http
    .text({ service, url: `${base}/meta-data/iam/security-credentials/`, headers, isMetadata: true })
    .catch((error: unknown) => {
      if (!(error instanceof Failure) || error.code !== 'refused') throw error;
      throw new Failure(
        'no-identity',
        'the instance has no role: give it an instance profile, or the environment keys',
        { cause: error },
      );
    });
  const role = roles.split('\n')[0]?.trim() ?? '';
  if (role === '')
    throw new Failure('no-identity', 'the instance has no role: give it an instance profile, or the environment keys');
  const found = parseObject(
    await http.text({
      service,
      url: `${base}/meta-data/iam/security-credentials/${encodeURIComponent(role)}`,
      headers,
      isMetadata: true,
    }),
  );
  if (!found) throw new Failure('bad-answer', `${service} answered with no JSON object`);
  return {
    accessKeyId: textIn(found, 'AccessKeyId', service),
    secretAccessKey: textIn(found, 'SecretAccessKey', service),
    sessionToken: textIn(found, 'Token', service),
  };
}
