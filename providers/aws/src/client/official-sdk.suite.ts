/** The official SDK as the judge of what is sent and how answers are read: its clients with what they send and get in hand. */
import { EC2Client } from '@aws-sdk/client-ec2';
import * as ec2 from '@aws-sdk/client-ec2';
import { ElasticLoadBalancingClient } from '@aws-sdk/client-elastic-load-balancing';
import * as elb from '@aws-sdk/client-elastic-load-balancing';
import { ElasticLoadBalancingV2Client } from '@aws-sdk/client-elastic-load-balancing-v2';
import * as elbv2 from '@aws-sdk/client-elastic-load-balancing-v2';
import { STSClient } from '@aws-sdk/client-sts';
import * as sts from '@aws-sdk/client-sts';
import { Readable } from 'node:stream';
import type { ServiceName } from './call-limits.ts';

export interface SdkRequest {
  /** `https://ec2.eu-central-1.amazonaws.com/`. */
  readonly url: string;
  readonly body: string;
}

export interface SdkSettings {
  readonly region: string;
  readonly useDualstackEndpoint?: boolean;
  readonly useFipsEndpoint?: boolean;
}

interface SdkClient {
  send(command: unknown): Promise<Readonly<Record<string, unknown>>>;
  destroy(): void;
}

const SERVICES = {
  ec2: { client: EC2Client, commands: ec2 },
  elb: { client: ElasticLoadBalancingClient, commands: elb },
  elbv2: { client: ElasticLoadBalancingV2Client, commands: elbv2 },
  sts: { client: STSClient, commands: sts },
};

/** One service of the SDK, whose requests are answered with the texts that it is given. */
export class OfficialSdk implements Disposable {
  readonly #client: SdkClient;
  readonly #commands: Readonly<Record<string, unknown>>;
  #sent: SdkRequest | undefined;
  #answer = '';

  constructor(service: ServiceName, settings: SdkSettings = { region: 'eu-central-1' }) {
    const { client: Client, commands } = SERVICES[service];
    this.#commands = commands;
    this.#client = new Client({
      useDualstackEndpoint: false,
      useFipsEndpoint: false,
      ...settings,
      credentials: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'not-a-secret' },
      maxAttempts: 1,
      requestHandler: {
        handle: async (request: { readonly hostname: string; readonly body: string }) => {
          this.#sent = { url: `https://${request.hostname}/`, body: request.body };
          return { response: { statusCode: 200, headers: {}, body: Readable.from([Buffer.from(this.#answer)]) } };
        },
      } as never,
    });
  }

  /** What it sends, and what it reads of `answer`, without its metadata. */
  async ask(
    operation: string,
    input: object,
    answer: string,
  ): Promise<{ readonly sent: SdkRequest; readonly output: object }> {
    this.#sent = undefined;
    this.#answer = answer;
    const Command = this.#commands[`${operation}Command`] as new (asked: object) => unknown;
    const { $metadata: _, ...output } = await this.#client.send(new Command(input));
    if (!this.#sent) throw new Error(`the SDK sent nothing for ${operation}`);
    return { sent: this.#sent, output };
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }
}
