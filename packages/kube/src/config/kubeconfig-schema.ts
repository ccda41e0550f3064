/**
 * The kubeconfig file, v1: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/. Fields that are not listed
 * are ignored, as client-go ignores them.
 */
// As a namespace: the named `z` would bring every language of zod's messages into a bundle.
import * as z from 'zod';

type Text = string | undefined;
type Extension = { readonly name?: Text; readonly extension?: unknown };

export interface KubeconfigCluster {
  readonly server?: Text;
  readonly 'tls-server-name'?: Text;
  readonly 'insecure-skip-tls-verify': boolean;
  readonly 'certificate-authority'?: Text;
  readonly 'certificate-authority-data'?: Text;
  readonly 'proxy-url'?: Text;
  readonly 'disable-compression': boolean;
  readonly extensions: readonly Extension[];
}

interface KubeconfigExec {
  readonly command?: Text;
  readonly args: readonly Text[];
  readonly env: readonly { readonly name?: Text; readonly value?: Text }[];
  readonly apiVersion?: Text;
  readonly installHint?: Text;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode?: Text;
}

export interface KubeconfigUser {
  readonly 'client-certificate'?: Text;
  readonly 'client-certificate-data'?: Text;
  readonly 'client-key'?: Text;
  readonly 'client-key-data'?: Text;
  readonly token?: Text;
  readonly tokenFile?: Text;
  readonly username?: Text;
  readonly password?: Text;
  readonly as?: Text;
  readonly 'as-uid'?: Text;
  readonly 'as-groups': readonly Text[];
  readonly 'as-user-extra'?: Readonly<Record<string, readonly string[]>> | null | undefined;
  readonly 'auth-provider'?: unknown;
  readonly exec?: KubeconfigExec | null | undefined;
}

export interface KubeconfigContext {
  readonly cluster?: Text;
  readonly user?: Text;
  readonly namespace?: Text;
}

/** The whole file, with lists that are missing as empty ones. */
export interface KubeconfigText {
  readonly apiVersion?: Text;
  readonly kind?: Text;
  readonly 'current-context'?: Text;
  readonly clusters: readonly { readonly name?: Text; readonly cluster: KubeconfigCluster }[];
  readonly users: readonly { readonly name?: Text; readonly user: KubeconfigUser }[];
  readonly contexts: readonly { readonly name?: Text; readonly context: KubeconfigContext }[];
}

/** Go's YAML reads `token: 1234` and `token: true` into a string field; so do we. Empty and null mean: not set. */
const text = z
  .union([z.string(), z.boolean().transform(String), z.null()])
  .optional()
  .transform((value) => (value === null || value === '' ? undefined : value));

/** Go's YAML is 1.1, where `yes` and `on` are booleans; in 1.2 they are strings. */
const WORDS: Readonly<Record<string, boolean>> = { yes: true, on: true, y: true, no: false, off: false, n: false };
const flag = z
  .preprocess(
    (value) => (typeof value === 'string' ? (WORDS[value.toLowerCase()] ?? value) : value),
    z.boolean().nullish(),
  )
  .transform((value) => value ?? false);

/** An entry without content (`user:` and nothing after it) is an empty one. */
function orEmpty<T>(shape: z.ZodType<T>): z.ZodType<T> {
  return z.preprocess((value) => value ?? {}, shape);
}

function listOf<T>(item: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z
    .array(item)
    .nullish()
    .transform((value) => value ?? []);
}

const extension = z.object({ name: text, extension: z.unknown().optional() });

const cluster = orEmpty(
  z.object({
    server: text,
    'tls-server-name': text,
    'insecure-skip-tls-verify': flag,
    'certificate-authority': text,
    'certificate-authority-data': text,
    'proxy-url': text,
    'disable-compression': flag,
    extensions: listOf(extension),
  }),
);

const exec = z.object({
  command: text,
  args: listOf(text),
  env: listOf(z.object({ name: text, value: text })),
  apiVersion: text,
  installHint: text,
  provideClusterInfo: flag,
  interactiveMode: text,
});

const user = orEmpty(
  z.object({
    'client-certificate': text,
    'client-certificate-data': text,
    'client-key': text,
    'client-key-data': text,
    token: text,
    tokenFile: text,
    username: text,
    password: text,
    as: text,
    'as-uid': text,
    'as-groups': listOf(text),
    'as-user-extra': z.record(z.string(), z.array(z.string())).nullish(),
    'auth-provider': z.unknown().optional(),
    exec: exec.nullish(),
  }),
);

const context = orEmpty(z.object({ cluster: text, user: text, namespace: text }));

/** The whole file. */
export const kubeconfigSchema: z.ZodType<KubeconfigText | null | undefined> = z
  .object({
    apiVersion: text,
    kind: text,
    'current-context': text,
    clusters: listOf(z.object({ name: text, cluster })),
    users: listOf(z.object({ name: text, user })),
    contexts: listOf(z.object({ name: text, context })),
  })
  .nullish();
