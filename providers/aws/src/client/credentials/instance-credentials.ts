/** Credentials of the role that an instance has. */
import { asError, CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { InstanceMetadata } from '../instance-metadata.ts';
import type { AwsCredentials } from '../sign-request.ts';
import { credentialsIn } from './credential-document.ts';
import { isSet } from './environment.ts';

/** The last resort. Rejects with what to do where there is none. */
export async function instanceCredentials(call: CallContext, metadata: InstanceMetadata): Promise<AwsCredentials> {
  const root = 'meta-data/iam/security-credentials';
  let role: string | undefined;
  try {
    role = (await metadata.read(call, root))?.trim().split('\n')[0];
  } catch (error) {
    throw new CloudError(
      'unauthenticated',
      `there are no credentials in the environment, in a profile or from a container's agent, and those of the instance cannot be had: ${asError(error).message}`,
      { cause: error },
    );
  }
  const document = isSet(role) ? await metadata.read(call, `${root}/${role}`) : undefined;
  if (document === undefined)
    throw new CloudError(
      'unauthenticated',
      "there are no credentials in the environment, in a profile or from a container's agent, and the instance has no role: give it an instance profile",
    );
  return credentialsIn(document, `the instance's role ${role}`);
}
