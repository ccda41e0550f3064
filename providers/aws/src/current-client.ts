/** The client that the capabilities hold: a changed cloud config puts another one behind it, and they go on. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { AwsClient, ServiceClient } from './client/aws-client.ts';

export class CurrentClient implements AwsClient {
  #client: AwsClient;
  readonly ec2: AwsClient['ec2'] = forwarded(() => this.#client.ec2);
  readonly elb: AwsClient['elb'] = forwarded(() => this.#client.elb);
  readonly elbv2: AwsClient['elbv2'] = forwarded(() => this.#client.elbv2);
  readonly sts: AwsClient['sts'] = forwarded(() => this.#client.sts);

  constructor(client: AwsClient) {
    this.#client = client;
  }

  /** Gives back the one before. Requests that have begun end with the client that they began with. */
  replace(client: AwsClient): AwsClient {
    const before = this.#client;
    this.#client = client;
    return before;
  }

  region(call: CallContext): Promise<string> {
    return this.#client.region(call);
  }

  metadata(call: CallContext, path: string): Promise<string | undefined> {
    return this.#client.metadata(call, path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }
}

function forwarded<Operations extends object>(client: () => ServiceClient<Operations>): ServiceClient<Operations> {
  return (call, operation, input) => client()(call, operation, input);
}
