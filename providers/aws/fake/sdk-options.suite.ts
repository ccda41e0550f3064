/** For tests: the official SDK against a fake that does not listen. */
import type { FakeAws } from './fake-aws.ts';

interface SdkRequest {
  readonly method: string;
  readonly hostname: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: unknown;
}

interface SdkResponse {
  readonly response: { statusCode: number; headers: Record<string, string>; body: Uint8Array };
}

export interface SdkOptions {
  readonly region: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly maxAttempts: number;
  readonly requestHandler: { readonly handle: (request: SdkRequest) => Promise<SdkResponse> };
}

/** Options of an SDK client. One attempt a request. */
export function sdkOptions(aws: FakeAws): SdkOptions {
  return {
    region: aws.account.region,
    credentials: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'not-a-secret' },
    maxAttempts: 1,
    requestHandler: {
      handle: async ({ body, headers, hostname, method, path }: SdkRequest) => {
        const answer = await aws.fetch(`https://${hostname}${path}`, {
          method,
          headers,
          body: typeof body === 'string' ? body : '',
          redirect: 'manual',
          signal: new AbortController().signal,
        });
        const text = await answer.text();
        return {
          response: { statusCode: answer.status, headers: { 'content-type': 'text/xml' }, body: Buffer.from(text) },
        };
      },
    },
  };
}
