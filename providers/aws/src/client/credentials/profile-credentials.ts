/** Credentials of a profile: its keys, a process, a role by another profile or by a token. */
import { CloudError } from '@outrigger/cloud-provider';
import type { InstanceMetadata } from '../instance-metadata.ts';
import type { CredentialSource } from '../request-signer.ts';
import type { RoleSource } from './assume-role.ts';
import type { ContainerCredentials } from './container-credentials.ts';
import { environmentCredentials, isSet, type Environment } from './environment.ts';
import { instanceCredentials } from './instance-credentials.ts';
import { processCredentials } from './process-credentials.ts';
import { profileName, type Profiles } from './profiles.ts';

export interface ProfileCredentialsOptions {
  readonly env: Environment;
  readonly profiles: Profiles;
  readonly roles: RoleSource;
  readonly container: ContainerCredentials;
  readonly metadata: InstanceMetadata;
}

/** Of the profile of `AWS_PROFILE`, or `default`. `undefined`: there is none, or it says nothing of credentials. */
export function profileSource(options: ProfileCredentialsOptions): CredentialSource | undefined {
  const name = profileName(options.env);
  if (options.profiles[name] === undefined) {
    if (isSet(options.env['AWS_PROFILE']))
      throw wrong(
        name,
        'is named in AWS_PROFILE and stands in no file of AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE',
      );
    return undefined;
  }
  return sourceOf(options, name, []);
}

/** `undefined`: the profile says nothing of credentials. */
function sourceOf(
  options: ProfileCredentialsOptions,
  name: string,
  from: readonly string[],
): CredentialSource | undefined {
  const { profiles, roles } = options;
  const profile = profiles[name];
  if (!profile) throw wrong(name, `is the source_profile of ${from.at(-1)} and is not there`);
  const said = `the profile ${name}`;
  const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey, role_arn: arn } = profile;
  const keys = isSet(accessKeyId) && isSet(secretAccessKey) ? { accessKeyId, secretAccessKey } : undefined;
  // A profile that is its own source has the keys for its role.
  if (isSet(arn) && from.at(-1) !== name) {
    if (isSet(profile['mfa_serial']))
      throw wrong(name, 'wants a code of a second factor (mfa_serial), which a program cannot give');
    const { external_id: externalId, role_session_name: sessionName, web_identity_token_file: tokenFile } = profile;
    const seconds = Number(profile['duration_seconds'] ?? '');
    const role = { arn, externalId, sessionName, durationSeconds: seconds > 0 ? seconds : undefined };
    if (isSet(tokenFile)) return (call) => roles.byWebIdentity(call, { ...role, tokenFile });
    const { source_profile: sourceProfile } = profile;
    if (isSet(sourceProfile) && sourceProfile !== name && from.includes(sourceProfile))
      throw wrong(name, `is in a circle of source_profile: ${[...from, name, sourceProfile].join(', ')}`);
    const source = isSet(sourceProfile)
      ? sourceOf(options, sourceProfile, [...from, name])
      : namedSource(options, name, profile['credential_source']);
    if (!source) throw wrong(name, `has a role_arn, and its source_profile ${sourceProfile} no credentials`);
    return roles.byCredentials(source, role);
  }
  if (keys) {
    const sessionToken = profile['aws_session_token'];
    const credentials = { ...keys, ...(isSet(sessionToken) && { sessionToken }), source: said };
    return () => Promise.resolve(credentials);
  }
  const { credential_process: command } = profile;
  if (isSet(command)) return (call) => processCredentials(command, said, call);
  if (Object.keys(profile).some((key) => key.startsWith('sso_') || key === 'login_session'))
    throw wrong(name, 'wants a sign-in by a person (SSO): let credential_process do it, or give a role');
  return undefined;
}

function namedSource(
  { container, env, metadata }: ProfileCredentialsOptions,
  name: string,
  source: string | undefined,
): CredentialSource {
  switch (source) {
    case 'Ec2InstanceMetadata':
      return (call) => instanceCredentials(call, metadata);
    case 'EcsContainer':
      return (call) => container.get(call);
    case 'Environment': {
      const keys = environmentCredentials(env);
      if (keys) return () => Promise.resolve(keys);
      throw wrong(
        name,
        'has credential_source = Environment, and AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set',
      );
    }
    default:
      throw wrong(
        name,
        'has a role_arn, and must have source_profile, web_identity_token_file or credential_source (Environment, Ec2InstanceMetadata, EcsContainer)',
      );
  }
}

function wrong(name: string, what: string): CloudError {
  return new CloudError('configuration', `the profile ${name} ${what}`);
}
