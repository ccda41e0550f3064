/** What the client has to know of an API to write its requests and read its answers: exceptions in tables, the rest by rule. */

/** One of AWS' services. Generated from its model. */
export interface ServiceApi {
  /** As the SDKs name it: `Elastic Load Balancing v2`. */
  readonly id: string;
  /** `2016-11-15`. */
  readonly version: string;
  readonly protocol: 'ec2' | 'query';
  /** The first label of its host name. */
  readonly endpoint: string;
  /** The service in the scope of a signature. */
  readonly signing: string;
  /** Members of requests whose names on the wire are others, by `Member`, or by `Operation.Member` for one operation alone. */
  readonly requests: Readonly<Record<string, string>>;
  /**
   * By operation, and by structure: the members of an answer, separated by spaces. Each is its name on the wire, `:` and its own name where
   * it is another, and its kind: nothing for a text, `#` a number, `?` a boolean, `@` a time, `=Structure` (`=` alone where the
   * structure has the member's own name), `[Structure` a list of them and `[` one of texts. With the protocol `ec2`, a member's own name is
   * the one on the wire with a capital. What has no members is left out.
   */
  readonly answers: Readonly<Record<string, string>>;
}
