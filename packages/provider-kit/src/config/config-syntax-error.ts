/** The text of a configuration is not of its format. The message quotes nothing of the text: that may be a secret. */
export class ConfigSyntaxError extends Error {
  /** From 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.name = 'ConfigSyntaxError';
    this.line = line;
  }
}
