/** Who somebody is, and credentials that do not live long. */
import type { Operations } from '../src/client/generated/sts.ts';
import type { AwsAccount } from './aws-account.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];

const HOUR_S = 3_600;

export const stsOperations = {
  GetCallerIdentity: (_input: unknown, { accountId }: AwsAccount): object => ({
    Account: accountId,
    UserId: 'AIDAFAKEUSER',
    Arn: `arn:aws:iam::${accountId}:user/fake`,
  }),

  AssumeRole: (input: Input<'AssumeRole'>, account: AwsAccount): object => session(account, input),

  AssumeRoleWithWebIdentity: (input: Input<'AssumeRoleWithWebIdentity'>, account: AwsAccount): object =>
    session(account, input),
};

function session(
  account: AwsAccount,
  input: { readonly RoleArn: string; readonly RoleSessionName: string; readonly DurationSeconds?: number },
): object {
  const { DurationSeconds: seconds = HOUR_S, RoleArn: role, RoleSessionName: name } = input;
  const { accessKey, expiresAt, secret, token } = account.newSession(seconds * 1_000);
  return {
    Credentials: {
      AccessKeyId: accessKey,
      SecretAccessKey: secret,
      SessionToken: token,
      Expiration: new Date(expiresAt).toISOString(),
    },
    AssumedRoleUser: {
      AssumedRoleId: `AROAFAKEROLE:${name}`,
      Arn: `${role.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/${name}`,
    },
  };
}
