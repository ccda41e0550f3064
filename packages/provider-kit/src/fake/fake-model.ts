/** What a reader makes of a cloud's model: operations that can be matched, read, judged, carried out and answered. */
import type { FakeAccount } from './fake-account.ts';
import type { FakeError } from './fake-error.ts';
import type { FakeFault } from './fault-rules.ts';
import type { FakeAnswer, FakeInput, FakeRequest, FakeResult } from './fake-request.ts';

/** What a behaviour has to do its work. */
export interface FakeContext {
  readonly input: FakeInput;
  readonly request: FakeRequest;
  /** The things of whoever asks. */
  readonly account: FakeAccount;
  /** By a rule of the test: hand it on to the write. */
  readonly failsLater: FakeFault['failsLater'];
  /** Of the request, absolute: for links. */
  readonly url: URL;
  /** What the table does at this place: for a behaviour that adds to it. Throws where it does nothing. */
  readonly usual: () => FakeResult;
}

/** What the table does at a place. */
export type TableBehaviour = (context: Omit<FakeContext, 'usual'>) => FakeResult;

/** What an operation does. Throw a `FakeRefusal` to refuse. */
export type FakeBehaviour = (context: FakeContext) => FakeResult | Promise<FakeResult>;

export interface FakeOperation {
  /** `GET /servers/{id}`, `DescribeInstances`. */
  readonly name: string;
  readonly method: string;
  /** With braces: `/servers/{id}`; `{+id}` may have slashes. */
  readonly path: string;
  /** Of several with one method and path. Default: it is the only one. */
  readonly matches?: (request: Omit<FakeRequest, 'account' | 'operation'>) => boolean;
  readonly behaviour: FakeBehaviour;
  /** What a request says, and what is wrong with it. */
  readonly read: (request: FakeRequest, params: Readonly<Record<string, string>>) => ReadRequest;
  /** What is wrong with an answer. */
  readonly judge: (result: FakeResult) => readonly string[];
  readonly answer: (result: FakeResult, request: FakeRequest) => FakeAnswer;
}

export interface ReadRequest {
  readonly input: FakeInput;
  readonly problems: readonly string[];
}

export interface FakeModel {
  readonly operations: readonly FakeOperation[];
  readonly refuse: (error: FakeError, request: FakeRequest) => FakeResult;
  /** For what is no operation of it. */
  readonly answer: (result: FakeResult, request: FakeRequest) => FakeAnswer;
}
