/** What can go wrong with a control plane, by stable code. */
export type ControlPlaneErrorCode =
  /** None of the places has the programs, and none of the ways to get them worked. */
  | 'control-plane-missing'
  /** A program ended or was not ready in time; the message has the end of its log. */
  | 'control-plane-start'
  /** The API server answered with an error to a request of the test environment itself. */
  | 'control-plane-request';

/** Thrown by everything in this folder that a test can run into. */
export class ControlPlaneError extends Error {
  readonly code: ControlPlaneErrorCode;

  constructor(code: ControlPlaneErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ControlPlaneError';
    this.code = code;
  }
}
