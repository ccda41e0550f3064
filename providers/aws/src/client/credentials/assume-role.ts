/** Credentials of a role: by other credentials, or by a token of the cluster. */
import { asError, CloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { readFile } from 'node:fs/promises';
import type { AssumeRoleResponse } from '../generated/sts.ts';
import type { CredentialSource } from '../request-signer.ts';
import type { AwsCredentials } from '../sign-request.ts';

export interface Role {
  readonly arn: string;
  /** Default: `outrigger`. */
  readonly sessionName?: string | undefined;
  readonly externalId?: string | undefined;
  readonly durationSeconds?: number | undefined;
  /** For the condition `aws:SourceArn` of the role's trust policy: whom it is assumed for. */
  readonly sourceArn?: string | undefined;
}

/** One request of STS. */
export type SendSts = (
  call: CallContext,
  operation: 'AssumeRole' | 'AssumeRoleWithWebIdentity',
  input: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<object>;

/** Asks STS for credentials of roles. */
export class RoleSource {
  readonly #host: Pick<ProviderHost, 'redact'>;
  readonly #unsigned: SendSts;
  readonly #signedBy: (source: CredentialSource) => SendSts;

  /** `signedBy`: requests that are signed with these credentials. */
  constructor(host: Pick<ProviderHost, 'redact'>, unsigned: SendSts, signedBy: (source: CredentialSource) => SendSts) {
    this.#host = host;
    this.#unsigned = unsigned;
    this.#signedBy = signedBy;
  }

  /** What asks for the role with these credentials, each time that it is called. */
  byCredentials(
    source: CredentialSource,
    { arn, durationSeconds, externalId, sessionName, sourceArn }: Role,
  ): CredentialSource {
    const send = this.#signedBy(source);
    const input = {
      RoleArn: arn,
      RoleSessionName: sessionName || SESSION,
      ExternalId: externalId,
      DurationSeconds: durationSeconds,
    };
    const headers: Record<string, string> = {};
    if (sourceArn) {
      headers['x-amz-source-arn'] = sourceArn;
      headers['x-amz-source-account'] = arn.split(':')[4] ?? '';
    }
    return async (call) => credentialsOf(arn, await send(call, 'AssumeRole', input, headers));
  }

  /** IRSA: the token is read again each time, as kubelet changes it. */
  async byWebIdentity(
    call: CallContext,
    { arn, durationSeconds, sessionName, tokenFile }: Role & { readonly tokenFile: string },
  ): Promise<AwsCredentials> {
    let token: string;
    try {
      token = (await readFile(tokenFile, 'utf8')).trim();
    } catch (error) {
      throw new CloudError(
        'configuration',
        `the token for the role ${arn} cannot be read (AWS_WEB_IDENTITY_TOKEN_FILE): ${asError(error).message}`,
        { cause: error },
      );
    }
    this.#host.redact(token, { rotating: true });
    const answer = await this.#unsigned(call, 'AssumeRoleWithWebIdentity', {
      RoleArn: arn,
      RoleSessionName: sessionName || SESSION,
      WebIdentityToken: token,
      DurationSeconds: durationSeconds,
    });
    return credentialsOf(arn, answer);
  }
}

/** In the trail of the account: who it was. */
const SESSION = 'outrigger';

function credentialsOf(arn: string, { Credentials: given }: AssumeRoleResponse): AwsCredentials {
  if (!given) throw new CloudError('unavailable', `AWS answered with no credentials of the role ${arn}`);
  return {
    accessKeyId: given.AccessKeyId,
    secretAccessKey: given.SecretAccessKey,
    sessionToken: given.SessionToken,
    expiresAt: given.Expiration.getTime(),
    source: `the role ${arn}`,
  };
}
