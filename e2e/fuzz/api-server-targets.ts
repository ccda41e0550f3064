/** The paths of a text that the API server sends: answers and watches, leases, volumes, and what it asks webhooks. */
import { readReview, reviewOf } from '../../packages/controller-manager/src/webhook/admission-review.ts';
import { sizeOfJson } from '../../packages/controller-manager/src/webhook/json-size.ts';
import { volumeRefOf } from '../../packages/controllers/src/pv-label/volume-source.ts';
import { readLease, writeLease } from '../../packages/kube/src/lease-record.ts';
import { delimited, enveloped, framed, watchEvent } from '../../packages/kube/src/protobuf/encode.suite.ts';
import { readList, readObject, readWatchEvent } from '../../packages/kube/src/protobuf/envelope.ts';
import { decodeFrames } from '../../packages/kube/src/protobuf/frame-decoder.ts';
import { readError } from '../../packages/kube/src/response-body.ts';
import { retryAfterMs } from '../../packages/kube/src/retry-after.ts';
import { warningsOf } from '../../packages/kube/src/warning-header.ts';
import { logger } from './log-targets.ts';
import type { Target } from './target.ts';

/** As the page of a webhook does. */
function review(text: string): void {
  sizeOfJson(Buffer.from(text));
  const { object, uid } = readReview(text);
  logger.info('x', { uid, object });
}

const bodyOf = (text: string) => ({
  status: 500,
  headers: { 'content-type': 'text/html' },
  body: (async function* () {
    yield Buffer.from(text);
  })(),
});

const PIECE_BYTES = 100;
const piecesOf = (bytes: Buffer): readonly Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, i) =>
    bytes.subarray(i * PIECE_BYTES).subarray(0, PIECE_BYTES),
  );

/** The messages of a stream that comes in pieces, which begin and end where messages do not. */
const framesIn = (stream: Buffer): Promise<readonly Buffer[]> =>
  Array.fromAsync(
    decodeFrames(
      (async function* () {
        yield* piecesOf(stream);
      })(),
    ),
  );

export const apiServerTargets: readonly Target[] = [
  { name: 'AdmissionReview', run: review },
  {
    name: 'AdmissionReview, its object',
    run: (text) => {
      const [uid, object] = [JSON.stringify(text), /^[[{]/u.test(text) ? text : JSON.stringify({ [text]: text })];
      review(
        `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":${uid},"operation":"CREATE","object":${object}}}`,
      );
    },
  },
  {
    name: 'answer to an AdmissionReview',
    run: (text) => reviewOf(text, { refused: text, warnings: [text, ...text.split(',')] }),
  },
  {
    name: 'volume',
    run: (text) => volumeRefOf({ metadata: { name: 'a' }, spec: { cinder: { volumeID: text } } }),
  },
  {
    name: 'lease',
    run: (text) => {
      const lease = {
        metadata: { annotations: { a: text } },
        spec: { holderIdentity: text, acquireTime: text },
      } as never;
      writeLease(lease, { ...readLease(lease, 1), renewedAt: 0 });
    },
  },
  { name: 'answer of an API server', run: (text) => readError('GET /', bodyOf(text)) },
  {
    name: 'answer of an API server, a Status',
    run: (text) => readError('GET /', bodyOf(JSON.stringify({ kind: 'Status', message: text }))),
  },
  {
    name: 'list in protobuf',
    run: (text) => {
      const items = piecesOf(Buffer.from(text)).map((name) => delimited(2, delimited(1, delimited(1, name))));
      return readList('Node', enveloped('NodeList', ...items));
    },
  },
  {
    name: 'object in protobuf',
    run: (text) => readWatchEvent('Node', watchEvent('ADDED', enveloped('Node', Buffer.from(text, 'latin1')))),
  },
  {
    name: 'text of an object in protobuf',
    run: (text) => {
      const label = Buffer.concat([delimited(1, Buffer.from(text)), delimited(2, Buffer.from(text))]);
      return readObject('Node', enveloped('Node', delimited(1, delimited(11, label))));
    },
  },
  { name: 'watch in protobuf, one event', run: (text) => framesIn(framed(Buffer.from(text))) },
  {
    name: 'watch in protobuf, many events',
    run: (text) => framesIn(Buffer.concat(piecesOf(Buffer.from(text)).map(framed))),
  },
  { name: 'Retry-After', run: (text) => retryAfterMs({ 'retry-after': text }) },
  { name: 'Warning', run: warningsOf },
];
