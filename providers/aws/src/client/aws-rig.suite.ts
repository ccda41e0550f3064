/** A client of an AWS that answers by a script, over the real host: budget, retries, redaction. */
import type { CallContext, ProviderHost } from '@outrigger/cloud-provider';
import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger, type Logger } from '@outrigger/kube';
import type { Fetch } from '@outrigger/provider-kit';
import { FakeClock } from '@outrigger/testing';
import { createAwsClient, type AwsClient, type AwsClientOptions } from './aws-client.ts';

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly form: URLSearchParams;
}

export interface Scripted {
  readonly status?: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AwsRig extends AsyncDisposable {
  readonly client: AwsClient;
  readonly call: CallContext;
  readonly clock: FakeClock;
  readonly opened: OpenedProvider;
  readonly sent: Sent[];
  /** What was warned of since the provider is open. */
  readonly warned: string[];
}

const KEYS = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'not-a-secret' };

/** Without the environment of the process. `credentials: undefined` asks the chain. */
export async function awsRig(
  answer: (sent: Sent) => Scripted | Promise<Scripted>,
  options: Partial<AwsClientOptions> = {},
): Promise<AwsRig> {
  let host: ProviderHost | undefined;
  const clock = new FakeClock(Date.parse('2026-11-23T12:00:00Z'));
  const warned: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => void warned.push(message), with: () => logger };
  const opened = await openProvider(
    {
      name: 'aws',
      open: async (given) => {
        host = given;
        return {};
      },
      close: async () => {},
    },
    {
      cluster: { id: 'cluster-1', name: 'test' },
      clock,
      logger,
      random: () => 0,
      budget: { maxAttempts: 1 },
    },
  );
  if (!host) throw new Error('the provider was not opened');
  // That it has no capabilities.
  warned.length = 0;
  const sent: Sent[] = [];
  const fetch: Fetch = async (url, { body, headers, method, signal }) => {
    signal.throwIfAborted();
    const request = { method, url, headers, form: new URLSearchParams(body ?? '') };
    sent.push(request);
    const ended = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
    const { headers: answered, status = 200, text } = await Promise.race([answer(request), ended]);
    return { status, headers: new Headers(answered), text: async () => text };
  };
  const client = createAwsClient({
    host,
    region: 'eu-central-1',
    credentials: KEYS,
    env: { HOME: '/nowhere' },
    fetch,
    ...options,
  });
  return {
    client,
    call: opened.callContext({ signal: new AbortController().signal, priority: 'normal' }),
    clock,
    opened,
    sent,
    warned,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

/** As EC2 says it. */
export function ec2Error(code: string, message = 'no', status = 400): Scripted {
  return {
    status,
    text: `<?xml version="1.0"?><Response><Errors><Error><Code>${code}</Code><Message>${message}</Message></Error></Errors><RequestID>1</RequestID></Response>`,
  };
}

/** As the query APIs say it. */
export function queryError(code: string, message = 'no', status = 400): Scripted {
  return {
    status,
    text: `<ErrorResponse xmlns="x"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`,
  };
}
