/** Credentials in JSON, as the instance metadata, agents of containers and processes give them. */
import { CloudError } from '@outrigger/cloud-provider';
import type { AwsCredentials } from '../sign-request.ts';

/** Throws `unauthenticated` for what has none, without showing any of it. */
export function credentialsIn(text: string, source: string): AwsCredentials {
  let read: Readonly<Record<string, unknown>> = {};
  try {
    read = (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    throw noCredentials(source, 'no JSON');
  }
  const word = (name: string): string | undefined => {
    const value = read[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [accessKeyId, secretAccessKey] = [word('AccessKeyId'), word('SecretAccessKey')];
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw noCredentials(source, word('Message') ?? word('message') ?? word('Code') ?? 'no keys');
  // The instance metadata and agents say `Token`, processes `SessionToken`.
  const sessionToken = word('Token') ?? word('SessionToken');
  const expiresAt = Date.parse(word('Expiration') ?? '');
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    ...(!Number.isNaN(expiresAt) && { expiresAt }),
    source,
  };
}

function noCredentials(source: string, what: string): CloudError {
  return new CloudError('unauthenticated', `what was to be the credentials of ${source} has ${what}`);
}
