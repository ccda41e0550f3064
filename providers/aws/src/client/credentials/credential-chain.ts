/** Where credentials come from, in the order of AWS' SDKs. Entry point: `credentialChain`. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { InstanceMetadata } from '../instance-metadata.ts';
import type { CredentialSource } from '../request-signer.ts';
import type { AwsCredentials } from '../sign-request.ts';
import type { RoleSource } from './assume-role.ts';
import type { ContainerCredentials } from './container-credentials.ts';
import { environmentCredentials, isSet, type Environment } from './environment.ts';
import { instanceCredentials } from './instance-credentials.ts';
import { profileSource } from './profile-credentials.ts';
import { readProfiles } from './profiles.ts';

export interface CredentialChainOptions {
  readonly env: Environment;
  readonly metadata: InstanceMetadata;
  readonly container: ContainerCredentials;
  readonly roles: RoleSource;
}

/**
 * The first of these that is set up: keys in the environment, a role by a token of the cluster (IRSA), a profile of the shared files, the
 * agent of the container (ECS, EKS Pod Identity), the role of the instance. One that is set up and fails is not passed over: the next one
 * may be another account's.
 */
export function credentialChain(options: CredentialChainOptions): CredentialSource {
  const { container, env, metadata, roles } = options;
  let profile: { readonly text: string; readonly source: CredentialSource | undefined } | undefined;
  return async (call: CallContext): Promise<AwsCredentials> => {
    const keys = environmentCredentials(env);
    if (keys) return keys;
    const { AWS_ROLE_ARN: arn, AWS_ROLE_SESSION_NAME: sessionName, AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile } = env;
    if (isSet(tokenFile) && isSet(arn)) return roles.byWebIdentity(call, { arn, sessionName, tokenFile });
    const profiles = await readProfiles(env);
    const text = JSON.stringify(profiles);
    // A role of a profile has connections of its own, which stay while the files do.
    if (profile?.text !== text) profile = { text, source: profileSource({ ...options, profiles }) };
    if (profile.source) return profile.source(call);
    return container.isSetUp ? container.get(call) : instanceCredentials(call, metadata);
  };
}
