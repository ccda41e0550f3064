/** `credential_process`: a command of the administrator's that prints credentials. */
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import { exec } from 'node:child_process';
import type { AwsCredentials } from '../sign-request.ts';
import { credentialsIn } from './credential-document.ts';

/** By a shell, as AWS' tools run it. Ended when the call ends. What it prints to its error output is not shown: it may be a secret. */
export async function processCredentials(
  command: string,
  source: string,
  { signal }: CallContext,
): Promise<AwsCredentials> {
  signal.throwIfAborted();
  const text = await new Promise<string>((resolve, reject) => {
    exec(command, { signal, maxBuffer: 1_000_000 }, (error, stdout) => {
      if (!error) resolve(stdout);
      else if (signal.aborted) reject(signal.reason as Error);
      else
        reject(
          new CloudError(
            'unauthenticated',
            `the credential_process of ${source} ended with ${error.code ?? error.signal ?? 'an error'}: run it by hand to see why`,
          ),
        );
    });
  });
  return credentialsIn(text, `the credential_process of ${source}`);
}
