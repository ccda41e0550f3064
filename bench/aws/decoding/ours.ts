/** The client of the provider. */
import { silentLogger, systemClock } from '@outrigger/kube';
import { createAwsClient } from '../../../providers/aws/src/client/aws-client.ts';
import { measured } from './measured.ts';

const { signal } = new AbortController();
const call = {
  signal,
  priority: 'normal' as const,
  logger: silentLogger,
  call: <T>(_operation: unknown, send: (given: AbortSignal) => Promise<T>) => send(signal),
};
const host = { clock: systemClock, logger: silentLogger, callContext: () => call, redact: () => {} };
let answered: Buffer = Buffer.alloc(0);
const client = createAwsClient({
  host,
  region: 'eu-central-1',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
  fetch: async () => ({ status: 200, headers: new Headers(), text: () => Promise.resolve(answered.toString()) }),
});

await measured(async (answer) => {
  answered = answer;
  const { Reservations = [] } = await client.ec2(call, 'DescribeInstances', { MaxResults: 1_000 });
  return Reservations.flatMap(({ Instances = [] }) => Instances).length;
});
