/** What a protocol of AWS does: which operation a request is, what it says, and how answers and refusals are written. */
import type { BotocoreOperation } from './botocore.ts';
import type { FakeError } from './fake-error.ts';
import type { FakeOperation } from './fake-model.ts';
import type { FakeAnswer, FakeInput, FakeRequest, FakeResult } from './fake-request.ts';

/** The body of a refusal, before a protocol writes it. */
export class AwsError {
  readonly code: string;
  readonly message: string;
  readonly status: number;

  constructor({ code, message, status }: FakeError) {
    this.code = code;
    this.message = message;
    this.status = status;
  }
}

export interface AwsProtocol {
  readonly matches: (operation: BotocoreOperation) => FakeOperation['matches'];
  readonly read: (operation: BotocoreOperation, request: FakeRequest, params: FakeInput['params']) => unknown;
  readonly write: (operation: BotocoreOperation, result: FakeResult) => FakeAnswer;
  readonly refuse: (error: AwsError) => FakeAnswer;
}
