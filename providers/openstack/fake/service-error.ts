/** An error of a status in the words of a service: what a fault answers. */
import type { FakeService } from './fake-http.ts';
import { neutronErrorBody } from './neutron/neutron-error.ts';
import { novaErrorBody } from './nova/nova-error.ts';
import { octaviaErrorBody } from './octavia/octavia-error.ts';

export function errorBody(service: FakeService, status: number, message: string): unknown {
  switch (service) {
    case 'network':
      return neutronErrorBody(`HTTP${status}`, message);
    case 'load-balancer':
      return octaviaErrorBody(status, message);
    case 'identity':
      return { error: { code: status, message, title: message } };
    case 'compute':
    case 'volume':
      return novaErrorBody(status, message);
    default:
      return { message };
  }
}
