/** How a test ends that has not passed. Anything else that it throws is a failure, too, but for a 403 of the API server. */

/** The promise is not kept. The message is one line; `details` has what was seen. */
export class BrokenPromise extends Error {
  override readonly name: string = 'BrokenPromise';
  readonly details: string;

  constructor(message: string, details = '') {
    super(message);
    this.details = details;
  }
}

/** The run could not tell whether the promise is kept; the message says why, in one line. */
export class NotVerifiable extends Error {
  override readonly name: string = 'NotVerifiable';
}

/** The manager says that it does not do what the test is about. */
export class NotDeclared extends Error {
  override readonly name: string = 'NotDeclared';
}
