/** Octavia's shape of an error, and the refusals that several of its resources share (octavia/common/exceptions.py). */
import { Refusal } from '../fake-http.ts';

export const octaviaErrorBody = (status: number, message: string): unknown => ({
  faultcode: status < 500 ? 'Client' : 'Server',
  faultstring: message,
  debuginfo: null,
});

export const octaviaRefusal = (status: number, message: string): Refusal =>
  new Refusal({ status, body: octaviaErrorBody(status, message) });

export const notFound = (kind: string, id: string): Refusal => octaviaRefusal(404, `${kind} ${id} not found.`);

export const invalid = (detail: string): Refusal => octaviaRefusal(400, `Validation failure: ${detail}`);

export const immutable = (kind: string, id: string): Refusal =>
  octaviaRefusal(409, `${kind} ${id} is immutable and cannot be updated.`);

export const unsupported = (provider: string, what: string): Refusal =>
  octaviaRefusal(501, `Provider '${provider}' does not support a requested option: ${what}`);
