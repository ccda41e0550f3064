/** A command line that cannot be understood. The message is one line that names the flag. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
  readonly code: 'unknown-flag' | 'invalid-flag' | 'unexpected-argument';

  constructor(code: FlagError['code'], message: string) {
    super(message);
    this.code = code;
  }
}
