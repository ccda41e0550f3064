/** AWS' SDK for JavaScript. */
import { DescribeInstancesCommand, EC2Client } from '@aws-sdk/client-ec2';
import { measured } from './measured.ts';

let answered: Buffer = Buffer.alloc(0);
const client = new EC2Client({
  region: 'eu-central-1',
  credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' },
  maxAttempts: 1,
  requestHandler: {
    handle: async () => ({ response: { statusCode: 200, headers: { 'content-type': 'text/xml' }, body: answered } }),
  } as never,
});

await measured(async (answer) => {
  answered = answer;
  const { Reservations = [] } = await client.send(new DescribeInstancesCommand({ MaxResults: 1_000 }));
  return Reservations.flatMap(({ Instances = [] }) => Instances).length;
});
