/** The run could not tell whether the promise is kept; the message says why, in one line. */
export class NotVerifiable extends Error {
  override readonly name: string = 'NotVerifiable';
}
