/** What the environment says of credentials. */
import type { AwsCredentials } from '../sign-request.ts';

/** Variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Neither missing nor empty. */
export function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

/** Its keys; `undefined`: it has none. */
export function environmentCredentials(env: Environment): AwsCredentials | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = env;
  if (!isSet(accessKeyId) || !isSet(secretAccessKey)) return undefined;
  return {
    accessKeyId,
    secretAccessKey,
    ...(isSet(token) && { sessionToken: token }),
    source: 'the environment (AWS_ACCESS_KEY_ID)',
  };
}
