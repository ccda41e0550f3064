/** The token that all requests share, and what the log says of it. */
import { isCloudError, type CloudErrorCode, type Logger, type ProviderHost } from '@outrigger/cloud-provider';
import { SharedToken } from '@outrigger/provider-kit';
import { authenticate, type KeystoneOptions, type Token } from './keystone.ts';

export interface TokenSourceOptions extends KeystoneOptions {
  /** Throws where a token leads to what must not be asked. */
  readonly admit: (token: Token) => void;
  /** Whoever asks first tells of the failure. Default: false. */
  readonly firstFailureIsTold?: boolean | undefined;
}

export type TokenHost = Pick<ProviderHost, 'callContext' | 'clock' | 'logger' | 'redact'>;

/** One request to keystone, however many wait. */
export function tokenSource(host: TokenHost, keystone: TokenSourceOptions): SharedToken<Token> {
  for (const secret of keystone.auth.secrets) host.redact(secret);
  const report = reporter(host.logger, keystone);
  return new SharedToken({
    host,
    fetch: async (call) => {
      try {
        const token = await call.call(
          { name: 'POST /v3/auth/tokens', idempotent: true, bucket: 'identity' },
          (signal) => authenticate(keystone, signal),
        );
        host.redact(token.value, { rotating: true });
        keystone.admit(token);
        report(undefined);
        return token;
      } catch (error) {
        report(error);
        throw error;
      }
    },
  });
}

/** One line when it begins to fail, and one when it works again. */
function reporter(logger: Logger, { auth, firstFailureIsTold, url }: TokenSourceOptions): (error: unknown) => void {
  let isTold = firstFailureIsTold ?? false;
  let failed = false;
  return (error) => {
    if (error === undefined) {
      if (failed) logger.info('Keystone issues tokens again', { url });
      failed = false;
    } else if (isCloudError(error) && !isTold) {
      const { code, message: why } = error;
      if (!failed) logger.error(lineOf(code), { url, as: auth.as, code, why, next: nextOf(code) });
      failed = true;
    }
    isTold = false;
  };
}

function lineOf(code: CloudErrorCode): string {
  return code === 'configuration' ? 'The token of keystone is not used' : 'Keystone issues no token';
}

/** What is to be done. */
function nextOf(code: CloudErrorCode): string {
  if (code === 'configuration' || code === 'unauthenticated') return 'correct the cloud config: it is read again';
  return 'check auth-url in [Global] of cloud.conf and the network path to it: the next request asks keystone again';
}
