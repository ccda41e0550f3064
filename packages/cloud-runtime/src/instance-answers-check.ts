/** Answers of a provider are checked before anything is concluded from them: a wrong count would shift them to other nodes. */
import { isIP } from 'node:net';
import {
  ANNOTATION_LENGTH,
  CloudError,
  cutText,
  NAME_LENGTH,
  PROVIDER_ID_LENGTH,
  type InstanceAnswer,
  type NodeAddressType,
  type NodeRef,
} from '@outrigger/cloud-provider';
import type { DatedAnswer } from './answer-defaults.ts';
import { isTextByName, MOST_ENTRIES } from './text-by-name.ts';

/** They are kept as long as the answer is, of each node. */
const MOST_NOTES = 32;

const cut = (text: string): string => cutText(text, 300);

/** The answers, one for each node. Throws a `CloudError` `invalid` when they are not. `sentAt` is when the call began. */
export function checkAnswers(
  nodes: readonly NodeRef[],
  answers: unknown,
  sentAt: number,
  now: number,
): readonly DatedAnswer[] {
  if (!Array.isArray(answers) || answers.length !== nodes.length) {
    const got = Array.isArray(answers) ? `${answers.length} answers` : 'no list';
    throw new CloudError('invalid', `the provider gave ${got} for ${nodes.length} nodes; nothing is concluded from it`);
  }
  return nodes.map((node, index) => checkAnswer(node, answers[index], sentAt, now));
}

/** One answer; one that breaks the contract becomes `failed`, and the others of its batch stand. */
function checkAnswer(node: NodeRef, answer: unknown, sentAt: number, now: number): DatedAnswer {
  const problem = problemOf(answer, now);
  if (problem !== undefined) return refused(node, problem, sentAt);
  const { asOf = sentAt, notes, place, result: given } = answer as InstanceAnswer;
  const told = notes?.slice(0, MOST_NOTES).map(cut);
  // What follows from a proof does not depend on its words.
  const result = given.kind === 'absent' ? { ...given, proof: cut(given.proof) } : given;
  return { asOf, result, ...(place !== undefined && { place }), ...(told?.length && { notes: told }) };
}

/**
 * A direct read. One that says `absent` by what was known before it was asked is no read: a node is deleted on it, and the
 * machine may have come since.
 */
export function checkRead(node: NodeRef, answer: unknown, sentAt: number, now: number): DatedAnswer {
  const checked = checkAnswer(node, answer, sentAt, now);
  if (checked.result.kind !== 'absent' || checked.asOf >= sentAt) return checked;
  return refused(node, 'is absent by what was known before the read began', sentAt);
}

function problemOf(answer: unknown, now: number): string | undefined {
  if (typeof answer !== 'object' || answer === null) return 'is not an object';
  const { asOf, notes, place, result } = answer as Record<string, unknown>;
  if (asOf !== undefined && !Number.isFinite(asOf)) return 'has an asOf that is no time';
  if ((asOf as number) > now) return 'is from the future (asOf is host.clock.monotonic())';
  if (place !== undefined && (typeof place !== 'string' || place === '' || place.length > PROVIDER_ID_LENGTH))
    return `has a place that is no text of ${PROVIDER_ID_LENGTH} characters at most`;
  if (notes !== undefined && !(Array.isArray(notes) && notes.every((one) => typeof one === 'string')))
    return 'has notes that are not a list of texts';
  if (typeof result !== 'object' || result === null) return 'has no result';
  const { kind, instance, proof, error } = result as Record<string, unknown>;
  switch (kind) {
    case 'missing':
      return undefined;
    case 'absent':
      return typeof proof === 'string' && proof !== '' ? undefined : 'is absent without proof';
    case 'failed':
      return error instanceof Error ? undefined : 'is failed without an error';
    case 'found':
      return problemOfInstance(instance);
    default:
      return 'is of a kind that there is not';
  }
}

function problemOfInstance(instance: unknown): string | undefined {
  if (typeof instance !== 'object' || instance === null) return 'is found without an instance';
  const { providerID, state } = instance as Record<string, unknown>;
  if (typeof providerID !== 'string' || !/^[^:/]+:\/\/.+/.test(providerID))
    return 'has no provider ID of the form name://…';
  if (providerID.length > PROVIDER_ID_LENGTH) return `has a provider ID of more than ${PROVIDER_ID_LENGTH} characters`;
  if (state !== 'running' && state !== 'shutdown') return 'has a state that is neither running nor shutdown';
  return problemOfMetadata(instance as Record<string, unknown>);
}

/** JSON of a cloud, cast and passed on, is the usual way for `null` and numbers to get here. */
function problemOfMetadata(instance: Record<string, unknown>): string | undefined {
  for (const name of ['name', 'type', 'zone', 'region']) {
    const text = instance[name];
    if (!['undefined', 'string'].includes(typeof text)) return `has a ${name} that is no text`;
    if (isLong(text)) return `has a ${name} of more than ${NAME_LENGTH} characters`;
  }
  const { addressesBy, maintenance } = instance;
  if (![undefined, 'cloud', 'guest'].includes(addressesBy as undefined))
    return 'has an addressesBy that is neither cloud nor guest';
  if (maintenance !== undefined && !isMaintenance(maintenance)) {
    return 'has a maintenance that is not {state: planned or in-progress, notBefore?: a time, reason?: text}';
  }
  for (const [name, { isRight, of, length }] of Object.entries(LISTS)) {
    if (instance[name] === undefined || isRight(instance[name])) continue;
    return `has ${name} that are not ${of}, ${MOST_ENTRIES} of ${length} characters at most`;
  }
  return undefined;
}

const isLong = (text: unknown): boolean => typeof text === 'string' && text.length > NAME_LENGTH;

const ADDRESS_TYPES: ReadonlySet<unknown> = new Set<NodeAddressType>([
  'InternalIP',
  'ExternalIP',
  'Hostname',
  'InternalDNS',
  'ExternalDNS',
]);

/** Of a `Date`. */
const LATEST_MS = 8.64e15;

function isCidr(value: unknown): boolean {
  if (typeof value !== 'string' || isLong(value)) return false;
  const [address = '', bits = '', ...more] = value.split('/');
  const family = isIP(address);
  return family !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

function isMaintenance(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { notBefore, reason, state } = value as Record<string, unknown>;
  const isTime = notBefore === undefined || (typeof notBefore === 'number' && Math.abs(notBefore) <= LATEST_MS);
  return isTime && (state === 'planned' || state === 'in-progress') && ['undefined', 'string'].includes(typeof reason);
}

function isAddress(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { type, address } = value as Record<string, unknown>;
  return ADDRESS_TYPES.has(type) && typeof address === 'string' && !isLong(address);
}

function listOf(isOne: (one: unknown) => boolean): (value: unknown) => boolean {
  return (value) => Array.isArray(value) && value.length <= MOST_ENTRIES && value.every(isOne);
}

/** What an instance has more than one of. `length`: of each text, in characters. */
const TEXTS = { isRight: isTextByName, of: 'text by name', length: ANNOTATION_LENGTH };
const LISTS = {
  addresses: { isRight: listOf(isAddress), of: 'a list of {type, address}', length: NAME_LENGTH },
  podCidrs: { isRight: listOf(isCidr), of: 'a list of CIDR ranges', length: NAME_LENGTH },
  labels: TEXTS,
  annotations: TEXTS,
  missingTags: TEXTS,
};

function refused(node: NodeRef, problem: string, sentAt: number): DatedAnswer {
  const message = `the provider's answer for node ${node.name} ${problem}; nothing is concluded from it`;
  return { asOf: sentAt, result: { kind: 'failed', error: new CloudError('invalid', message) } };
}
