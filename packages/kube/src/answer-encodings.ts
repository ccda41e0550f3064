/**
 * In which encoding lists and watches are asked for. Protobuf, which costs the API server a fifth of what JSON does and this
 * process six tenths (ADR 0033), for kinds that have tables and for callers who take trimmed objects; JSON for all others. What
 * protobuf holds beyond the tables would be lost: a kind of which such a thing has come is asked for in JSON from then on.
 */
import type { Resource } from './resource.ts';
import { PROTOBUF_TYPE } from './protobuf/envelope.ts';
import { UnreadableMessageError } from './protobuf/message-reader.ts';
import { ResponseError } from './response-body.ts';

/** Those of which there are many, and which change often. Each costs a table in the program. */
const READABLE: ReadonlySet<string> = new Set(['nodes', 'services']);

/** Shared by the clients of one server. */
export class AnswerEncodings {
  readonly #jsonOnly = new Set<string>();

  /** The header that asks for protobuf, or `undefined` where it is not to be asked for. A server may answer with JSON all the same. */
  protobufAccept({ answer, group, plural, version }: Resource): string | undefined {
    const isReadable = group === '' && version === 'v1' && READABLE.has(plural) && !answer;
    return isReadable && !this.#jsonOnly.has(plural) ? `${PROTOBUF_TYPE},application/json` : undefined;
  }

  /** The error to throw for `error`. After one of protobuf, the kind is asked for in JSON. */
  judge(request: string, { plural }: Resource, error: unknown): unknown {
    if (!(error instanceof UnreadableMessageError)) return error;
    this.#jsonOnly.add(plural);
    const what = `${request}: protobuf that cannot be read here (${error.message}); ${plural} are asked for in JSON from now on`;
    return new ResponseError('response-invalid', what);
  }
}
