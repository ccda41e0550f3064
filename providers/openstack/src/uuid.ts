/** IDs as OpenStack gives them. */

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Only in the form in which OpenStack stores it, small letters and dashes: a look-up compares texts. */
export const isUuid = (text: string): boolean => UUID.test(text);
