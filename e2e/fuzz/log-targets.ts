/** The paths of a text to the log, and to Events: what masks secrets, and what cuts. */
import { CloudError } from '@outrigger/cloud-provider';
import { Redactor } from '@outrigger/controller-manager';
import { KnownSecrets, systemClock, type Logger } from '@outrigger/kube';
import { Secrets } from '../../packages/cloud-runtime/src/secrets.ts';
import { createLogging } from '../../packages/controller-manager/src/logs/logging.ts';
import { EventCorrelator } from '../../packages/kube/src/event-correlator.ts';
import type { Target } from './target.ts';

const SECRET = 'pÄss/w<o>rd&"x+Y9';

const redactor = new Redactor();
redactor.add(SECRET);
redactor.add('hunter2-correct-horse');

const secrets = new Secrets();
secrets.add(SECRET);
secrets.add('k8s1!');

const known = new KnownSecrets();
for (let n = 0; n < 50; n++) known.add(`token-number-${n}-of-an-hour`);
// With the beginning of many a text.
for (let n = 0; n < 32; n++) known.add(`${'eyJhbGciOi.'.repeat(9)}${n}`);

/** As the program's own, which writes to nowhere. */
export const logger: Logger = createLogging({
  clock: systemClock,
  format: 'text',
  component: 'fuzz',
  destination: { write: () => {} },
  redactor,
}).logger;

/** As an Event of the failure of this Service or Node reaches the API server. */
export function eventOf(message: string): void {
  const about = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', namespace: 'b', uid: 'c' } };
  const correlator = new EventCorrelator(systemClock, about);
  correlator.correlate(about, { type: 'Warning', reason: 'Refused', message: redactor.redact(message) }, false);
  logger.error('Refused', { message });
}

export const logTargets: readonly Target[] = [
  { name: 'redactor', run: (text) => redactor.redact(text) },
  { name: 'secrets of a provider', run: (text) => secrets.redact(text) },
  { name: 'known secrets', run: (text) => known.replaceIn(text, '-') },
  { name: 'log message', run: (text) => logger.info(text) },
  { name: 'log field', run: (text) => logger.info('x', { text, deep: [{ text }], error: new Error(text) }) },
  { name: 'log key', run: (text) => logger.info('x', { [text]: text, deep: { [text]: 1 } }) },
  { name: 'provider log field', run: (text) => secrets.redactFields({ [text]: { [text]: text } }) },
  { name: 'provider error', run: (text) => secrets.redactError(new Error(text, { cause: text })) },
  { name: 'error of a cloud', run: (text) => logger.error('x', { error: new CloudError('invalid', text) }) },
  { name: 'Event', run: eventOf },
];
