import type { Clock } from '@outrigger/cloud-provider';
import { startFakeCloud, type RunningFakeCloud } from './index.ts';

/** Addresses, and balancers that use them and take two seconds to come. */
export function startSmallCloud(clock: Clock): Promise<RunningFakeCloud> {
  const text = { type: 'string' };
  return startFakeCloud({
    clock,
    accounts: { 'token-of-acme': 'acme' },
    table: {
      paging: { by: 'page', parameter: 'page', size: 10, next: { member: 'meta.next_page' } },
      resources: {
        addresses: {
          properties: { ip: { format: 'ipv4', readOnly: true } },
          made: (_address, n) => ({ ip: `203.0.113.${n}` }),
        },
        balancers: {
          properties: { address: text, size: { enum: ['small', 'large'], default: 'small' } },
          required: ['address'],
          references: { address: 'addresses' },
          states: { member: 'status', making: 'pending', ready: 'active' },
          takesMs: 2_000,
        },
      },
    },
  });
}
