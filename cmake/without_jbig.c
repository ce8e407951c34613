/* In the place of libjbig, whose licence (GPL) is not that of the product: an image in that form is refused as damaged. Callers know the
 * arguments; every code but 0 is an error. */
#define HIDDEN __attribute__((visibility("hidden")))

HIDDEN void jbg_dec_init(void) {}
HIDDEN void jbg_dec_free(void) {}
HIDDEN int jbg_dec_in(void) { return 1; }
HIDDEN long jbg_dec_getsize(void) { return 0; }
HIDDEN unsigned char* jbg_dec_getimage(void) { return 0; }
HIDDEN const char* jbg_strerror(void) { return "JBIG is not supported"; }
HIDDEN int jbg_newlen(void) { return 1; }
HIDDEN void jbg_enc_init(void) {}
HIDDEN void jbg_enc_out(void) {}
HIDDEN void jbg_enc_free(void) {}
