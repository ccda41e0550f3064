/** Neutron's shape of an error: the exception's class, and its message. */
import { Refusal } from '../fake-http.ts';

export const neutronErrorBody = (type: string, message: string): unknown => ({
  NeutronError: { type, message, detail: '' },
});

export const neutronRefusal = (status: number, type: string, message: string): Refusal =>
  new Refusal({ status, body: neutronErrorBody(type, message) });

export const badRequest = (message: string): Refusal => neutronRefusal(400, 'HTTPBadRequest', message);
