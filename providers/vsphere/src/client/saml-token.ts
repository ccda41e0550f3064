/**
 * A SAML token that is bound to a key (holder of key), from vCenter's token service by WS-Trust, and the requests that are signed with that
 * key. What is signed is written in its canonical form (exclusive C14N) from the start, so that nothing has to be brought into it.
 */
import { createSign, randomUUID, createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { CloudError, type CallContext, type Clock } from '@outrigger/cloud-provider';
import type { HttpClient, SentHttp } from '@outrigger/provider-kit';
import type { ManagedObject } from '../inventory/vcenter.ts';

export interface KeyPair {
  readonly certificate: string;
  readonly privateKey: string;
}

const SOAP = 'http://schemas.xmlsoap.org/soap/envelope/';
const WSS = 'http://docs.oasis-open.org/wss';
const WSU = `${WSS}/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd`;
const WSSE = `${WSS}/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd`;
const X509 = `${WSS}/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509v3`;
const TRUST = 'http://docs.oasis-open.org/ws-sx/ws-trust/200512';
const DSIG = 'http://www.w3.org/2000/09/xmldsig#';
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const LIFETIME_MS = 5 * 60_000;

export interface SamlTokenOptions {
  /** Of the token service, whose answers have their `text`. */
  readonly http: HttpClient;
  readonly path: `/${string}`;
  readonly clock: Clock;
  readonly call: CallContext;
}

/** The assertion as it was signed by the token service, byte for byte. It serves at once, for one login. */
export async function samlToken(pair: KeyPair, { call, clock, http, path }: SamlTokenOptions): Promise<string> {
  const now = clock.now();
  const [tokenId, keyId] = [newId(), newId()];
  const body =
    `<RequestSecurityToken xmlns="${TRUST}"><TokenType>urn:oasis:names:tc:SAML:2.0:assertion</TokenType>` +
    `<RequestType>${TRUST}/Issue</RequestType><Lifetime>${period(now, LIFETIME_MS)}</Lifetime>` +
    `<Renewing Allow="false" OK="false"></Renewing><Delegatable>true</Delegatable><KeyType>${TRUST}/PublicKey</KeyType>` +
    `<SignatureAlgorithm>${RSA_SHA256}</SignatureAlgorithm><UseKey Sig="${keyId}"></UseKey></RequestSecurityToken>`;
  const certificate = new X509Certificate(pair.certificate).raw.toString('base64');
  const answer = await http.request<{ readonly text: string }>(call, `POST ${path}`, {
    headers: { soapaction: `"${TRUST}/RST/Issue"` },
    body: signed({
      pair,
      body,
      now,
      keyId,
      shown:
        `<wsse:BinarySecurityToken EncodingType="${WSS}/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary"` +
        ` ValueType="${X509}" wsu:Id="${tokenId}">${certificate}</wsse:BinarySecurityToken>`,
      reference: `<wsse:Reference URI="#${tokenId}" ValueType="${X509}"></wsse:Reference>`,
    }),
    // A token that nobody takes does no harm.
    idempotent: true,
    name: 'RequestSecurityToken',
  });
  const assertion = assertionIn(answer.text);
  if (assertion !== undefined) return assertion;
  throw new CloudError('unavailable', 'the token service of vCenter answered without a token');
}

/** As it stands there, since each byte of it is signed. */
export function assertionIn(text: string): string | undefined {
  const begin = /<((?:[\w-]+:)?)Assertion[\s>]/u.exec(text);
  const end = `</${begin?.[1] ?? ''}Assertion>`;
  const at = text.lastIndexOf(end);
  return begin && at > begin.index ? text.slice(begin.index, at + end.length) : undefined;
}

/** `LoginByToken`, signed with the key that the token is bound to. */
export function signedLogin(token: string, pair: KeyPair, { reference, type }: ManagedObject, now: number): string {
  const id = /^<[^>]*\sID="([^"]+)"/u.exec(token)?.[1] ?? '';
  return signed({
    pair,
    now,
    body: `<LoginByToken xmlns="urn:vim25"><_this type="${type}">${reference}</_this></LoginByToken>`,
    shown: token,
    reference: `<wsse:KeyIdentifier ValueType="${WSS}/oasis-wss-saml-token-profile-1.1#SAMLID">${id}</wsse:KeyIdentifier>`,
    referenceAttributes: ` xmlns:wsse11="${WSS}/oasis-wss-wssecurity-secext-1.1.xsd" wsse11:TokenType="${WSS}/oasis-wss-saml-token-profile-1.1#SAMLV2.0"`,
  });
}

/** The header `Authorization` of a REST login with the token. */
export function signedAuthorization(token: string, { privateKey }: KeyPair, request: SentHttp, now: number): string {
  const { hostname, pathname, port } = new URL(request.url);
  const nonce = `${now}:${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  const bodyHash = createHash('sha256')
    .update(request.body ?? '')
    .digest();
  // The port as vCenter takes it from the header `Host`, which has none for 443.
  const head = [nonce, request.method, pathname, hostname.toLowerCase(), port === '' ? '80' : port];
  const message = Buffer.concat([Buffer.from(head.map((one) => `${one}\n`).join('')), bodyHash, Buffer.from('\n')]);
  const parts = {
    token: gzipSync(token).toString('base64'),
    signature_alg: 'RSA-SHA256',
    signature: createSign('sha256').update(message).sign(privateKey, 'base64'),
    nonce,
    bodyhash: bodyHash.toString('base64'),
  };
  return `SIGN ${Object.entries(parts)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`;
}

/** Throws `configuration` for what is no pair of PEM texts that fit each other. */
export function checkKeyPair({ certificate, privateKey: pem }: KeyPair): void {
  try {
    const privateKey = createPrivateKey(pem);
    if (privateKey.asymmetricKeyType !== 'rsa') throw new TypeError('the key is no RSA key');
    if (!new X509Certificate(certificate).checkPrivateKey(privateKey)) throw new TypeError('the key is of another one');
  } catch (error) {
    // The reasons of OpenSSL hold nothing of the key.
    const why = error instanceof TypeError ? error.message : 'they cannot be read as PEM';
    throw new CloudError('configuration', `certificate and key for the login to vCenter: ${why}`);
  }
}

interface SignedRequest {
  readonly pair: KeyPair;
  readonly now: number;
  readonly body: string;
  /** What shows the key: a certificate or a token. */
  readonly shown: string;
  /** How the signature refers to that. */
  readonly reference: string;
  readonly referenceAttributes?: string;
  readonly keyId?: string;
}

function signed({ body, keyId, now, pair, reference, referenceAttributes = '', shown }: SignedRequest): string {
  const [timeId, bodyId] = [newId(), newId()];
  const time = `<wsu:Timestamp xmlns:wsu="${WSU}" wsu:Id="${timeId}">${period(now, 60_000)}</wsu:Timestamp>`;
  const whole = `<soap:Body xmlns:soap="${SOAP}" xmlns:wsu="${WSU}" wsu:Id="${bodyId}">${body}</soap:Body>`;
  const info =
    `<ds:SignedInfo xmlns:ds="${DSIG}"><ds:CanonicalizationMethod Algorithm="${EXCLUSIVE}"></ds:CanonicalizationMethod>` +
    `<ds:SignatureMethod Algorithm="${RSA_SHA256}"></ds:SignatureMethod>` +
    `${digest(timeId, time)}${digest(bodyId, whole)}</ds:SignedInfo>`;
  const signature = createSign('sha256').update(info).sign(pair.privateKey, 'base64');
  return (
    `<soap:Envelope xmlns:soap="${SOAP}"><soap:Header><wsse:Security xmlns:wsse="${WSSE}" xmlns:wsu="${WSU}">${time}${shown}` +
    `<ds:Signature xmlns:ds="${DSIG}"${keyId === undefined ? '' : ` Id="${keyId}"`}>${info}` +
    `<ds:SignatureValue>${signature}</ds:SignatureValue><ds:KeyInfo><wsse:SecurityTokenReference${referenceAttributes}>` +
    `${reference}</wsse:SecurityTokenReference></ds:KeyInfo></ds:Signature></wsse:Security></soap:Header>${whole}</soap:Envelope>`
  );
}

function digest(id: string, canonical: string): string {
  const value = createHash('sha256').update(canonical).digest('base64');
  return (
    `<ds:Reference URI="#${id}"><ds:Transforms><ds:Transform Algorithm="${EXCLUSIVE}"></ds:Transform></ds:Transforms>` +
    `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod>` +
    `<ds:DigestValue>${value}</ds:DigestValue></ds:Reference>`
  );
}

function period(from: number, lifeMs: number): string {
  const [created, expires] = [from, from + lifeMs].map((time) => new Date(time).toISOString());
  return `<wsu:Created>${created}</wsu:Created><wsu:Expires>${expires}</wsu:Expires>`;
}

/** The token service asks for the underscore. */
function newId(): string {
  return `_${randomUUID()}`;
}
