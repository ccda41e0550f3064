/** Pod ranges of the memory cloud, in batches. */
import {
  CloudError,
  type CallContext,
  type CloudErrorCode,
  type PodRangeRequest,
  type PodRangeResult,
  type PodRanges,
} from '@outrigger/cloud-provider';
import type { CloudClient } from './cloud-client.ts';

type Result = { kind: 'done' } | { kind: 'exists' } | { kind: 'failed'; code: CloudErrorCode; message: string };

export class MemoryPodRanges implements PodRanges {
  readonly #client: () => CloudClient;

  constructor(client: () => CloudClient) {
    this.#client = client;
  }

  async assign(requests: readonly PodRangeRequest[], call: CallContext): Promise<readonly PodRangeResult[]> {
    const body = {
      requests: requests.map(({ node, podCidrs }) => ({
        instanceId: node.providerID?.split('/').at(-1) ?? node.name,
        podCidrs,
      })),
    };
    const { results } = await this.#client().request<{ results: readonly Result[] }>(
      call,
      'POST /podRanges:batchAssign',
      { method: 'POST', path: '/podRanges:batchAssign', body },
    );
    return results.map((result) =>
      result.kind === 'failed'
        ? { kind: 'failed', error: new CloudError(result.code, result.message) }
        : { kind: result.kind },
    );
  }
}
