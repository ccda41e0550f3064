/** The `ApiClient` that the capabilities hold: a changed cloud config gives it another connection, and they go on. */
import type { ApiClient } from './api-client.ts';
import { ForwardingClient } from './forwarding-client.ts';

export class ReplaceableClient extends ForwardingClient {
  /** Requests that have begun end with the client that they began with. */
  replace(client: ApiClient): void {
    this.client = client;
  }
}
