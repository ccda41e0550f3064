/** Nova's shape of an error: one key that names the fault (nova/api/openstack/wsgi.py, `Fault`). */
import { Refusal } from '../fake-http.ts';

const NAMES: Readonly<Record<number, string>> = {
  400: 'badRequest',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'itemNotFound',
  405: 'badMethod',
  409: 'conflictingRequest',
  413: 'overLimit',
  415: 'badMediaType',
  429: 'overLimit',
  501: 'notImplemented',
  503: 'serviceUnavailable',
};

export const novaErrorBody = (status: number, message: string): unknown => ({
  [NAMES[status] ?? 'computeFault']: { code: status, message },
});

export const novaRefusal = (status: number, message: string): Refusal =>
  new Refusal({ status, body: novaErrorBody(status, message) });

export const UNEXPECTED =
  'Unexpected API Error. Please report this at http://bugs.launchpad.net/nova/ and attach the Nova API log if possible.\n';
