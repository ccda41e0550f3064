/** An EC2 or ELB that answers what a test says, and keeps what it was asked. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';

type Answer = (input: Record<string, unknown>) => unknown;

export interface ScriptedAws extends Pick<AwsClient, 'ec2' | 'elb' | 'elbv2'> {
  /** `DescribeSubnets`, with what was asked. */
  readonly calls: readonly { readonly operation: string; readonly input: Record<string, unknown> }[];
}

/** By operation. What is not named there is a mistake of the test. */
export function scriptedAws(answers: Readonly<Record<string, Answer>>): ScriptedAws {
  const calls: { operation: string; input: Record<string, unknown> }[] = [];
  const send = async (_call: CallContext, operation: string, input: Record<string, unknown>): Promise<unknown> => {
    calls.push({ operation, input });
    const answer = answers[operation];
    if (!answer) throw new Error(`${operation} was not expected`);
    return answer(input);
  };
  // Of the overloads by operation, one function that takes each.
  const client = send as never;
  return { ec2: client, elb: client, elbv2: client, calls };
}

const { signal } = new AbortController();
const silent = (): void => {};

export const aCall: CallContext = {
  signal,
  priority: 'normal',
  logger: { error: silent, warn: silent, info: silent, verbose: silent },
  call: (_operation, send) => send(signal),
};
