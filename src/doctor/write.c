/* write.c - the report, as text for people and as JSON for programs (and for MPIR_CVAR_TRUST, which
 * reads one network a line).  Start with write_text(). */
#include <string.h>

#include "base/json_char.h"
#include "doctor/diagnosis.h"

static const struct {
    const char *name, *text;
} faults[FAULTS] = {
    [FAULT_NONE] = {"start", "the processes of the hosts do not come together"},
    [FAULT_ORDER] = {"order", "messages are lost, damaged or out of order"},
    [FAULT_TORN] = {"torn", "a put or get completes, and its bytes never come whole"},
    [FAULT_EARLY] = {"early", "a put or flush completes before its bytes are there"},
    [FAULT_BESIDE] = {"atomics", "an atomic is not atomic, or not beside the processor's"},
    [FAULT_LOST] = {"lost completion", "an operation that was taken never completes"},
    [FAULT_INJECT] = {"inject size", "a message of a length that the network promises does not "
                                     "arrive whole, even alone"},
    [FAULT_KEY] = {"stale key", "memory that was given back is still written to"},
    [FAULT_AGAIN] = {"again for ever", "an operation is refused, and never taken later"},
    [FAULT_OPEN] = {"open", "it crashes or hangs where it is opened"},
};

const char *const part_names[PARTS] = {"messages", "puts", "atomics"};

static const char *verdict(const struct network *n, enum part part)
{
    return network_fails(n, part)     ? "fails"
           : !network_offers(n, part) ? "not offered"
           : network_looked(n, part)  ? "holds"
                                      : "not looked at";
}

static void write_promise(const struct promise *p, FILE *out)
{
    unsigned f = p->caps.flags;
    fprintf(out, "  promises: messages to %zu bytes%s%s%s", p->caps.am_max,
            f & TP_AM_ORDERED ? " in order" : "", f & TP_PUT ? ", put" : "",
            f & TP_GET ? ", get" : "");
    if (f & TP_ATOMIC) {
        fprintf(out, ", atomics of");
        for (int i = 0; i < 8; i++)
            if (p->caps.atomic_sizes >> i & 1)
                fprintf(out, " %d", 1 << i);
        fprintf(out, " bytes%s", f & TP_CPU_COHERENT ? " beside the processor's" : "");
    }
    fprintf(out, "%s\n", f & TP_WAIT_FD ? ", a descriptor to sleep on" : "; nothing to sleep on");
    if (p->ping_us > 0)
        fprintf(out, "  8 bytes: message %.2f us", p->ping_us);
    if (p->put_us > 0)
        fprintf(out, ", put and flush %.2f us", p->put_us);
    if (p->ping_us > 0)
        fprintf(out, "\n");
}

static void write_network(const struct network *n, FILE *out)
{
    const struct promise *p = n->promise;
    fprintf(out, "network %s%s%s\n", n->name, *p->about ? ": " : "", p->about);
    if (p->open != 1) {
        fprintf(out, "  %s%s%s\n", p->open ? "this build does not have it" : "it does not open",
                *n->why ? ": " : "", n->why);
    } else {
        write_promise(p, out);
    }
    for (int i = 0; i < n->nfindings; i++) {
        const struct finding *f = &n->finding[i];
        fprintf(out, "  FAILS: %s: %s\n      seen by: %s: %s\n", faults[f->fault].name,
                faults[f->fault].text, f->look, f->text);
    }
    if (p->open != 1)
        return;
    if (!n->nfindings && n->looks)
        fprintf(out, "  all %d checks hold\n", n->looks);
    else
        fprintf(out, "  messages: %s; puts: %s; atomics: %s\n", verdict(n, PART_MESSAGES),
                verdict(n, PART_PUTS), verdict(n, PART_ATOMICS));
}

static void write_ways(const struct ways *w, FILE *out)
{
    for (int i = 0; i < w->n; i++) {
        const struct way *y = &w->way[i];
        fprintf(out, "way to %s over %s", y->host, y->network);
        if (y->ping_us > 0)
            fprintf(out, ": message %.2f us", y->ping_us);
        if (y->put_us > 0)
            fprintf(out, ", put and flush %.2f us, puts of 1 MiB %.2f GB/s", y->put_us, y->put_gbs);
        fprintf(out, "\n");
        if (y->messages)
            fprintf(out, "  messages%s hold\n", y->puts ? " and puts" : "");
    }
    if (w->failed)
        fprintf(out, "  FAILS: %s: %s\n      seen between the hosts: %s\n", faults[w->fault].name,
                faults[w->fault].text, w->text);
}

void write_text(const struct report *r, FILE *out)
{
    int fails = 0;
    fprintf(out, "host %s\n", r->host);
    for (int i = 0; i < r->nnotes; i++) {
        const struct fact *n = &r->note[i];
        fprintf(out, "  %-20s %s\n", n->name, n->value);
        if (*n->advice)
            fprintf(out, "  %-20s -> %s\n", "", n->advice);
    }
    for (int i = 0; i < r->nnetworks; i++) {
        write_network(&r->network[i], out);
        fails += r->network[i].nfindings > 0;
    }
    if (r->ways)
        write_ways(r->ways, out);
    if (fails)
        fprintf(out, "MPIR_CVAR_TRUST=FILE (of -doctor-json FILE) leaves out what fails\n");
}

static void put_string(FILE *out, const char *s)
{
    char c[JSON_CHAR];
    fputc('"', out);
    while (*s)
        fputs(json_next(&s, c), out);
    fputc('"', out);
}

static void json_network(const struct network *n, FILE *out)
{
    const struct promise *p = n->promise;
    fprintf(out, "    {\"network\": \"%s\", \"variant\": ", n->name);
    put_string(out, p->variant);
    fprintf(out, ", \"open\": %s", p->open == 1 ? "true" : "false");
    for (int i = 0; i < PARTS; i++)
        fprintf(out, ", \"%s\": \"%s\"", part_names[i], verdict(n, (enum part)i));
    fprintf(out,
            ", \"flags\": %u, \"message_max\": %zu, \"atomic_sizes\": %u, \"checks\": %d, "
            "\"ping_us\": %.3f, \"put_us\": %.3f, \"findings\": [",
            p->caps.flags, p->caps.am_max, p->caps.atomic_sizes, n->looks, p->ping_us, p->put_us);
    for (int i = 0; i < n->nfindings; i++) {
        const struct finding *f = &n->finding[i];
        fprintf(out, "%s{\"fault\": \"%s\", \"check\": \"%s\", \"text\": ", i ? ", " : "",
                faults[f->fault].name, f->look);
        put_string(out, f->text);
        fprintf(out, "}");
    }
    fprintf(out, "]}");
}

static void json_ways(const struct ways *w, FILE *out)
{
    fprintf(out, ",\n  \"ways\": [\n");
    for (int i = 0; i < w->n; i++) {
        const struct way *y = &w->way[i];
        fprintf(out, "    {\"to\": ");
        put_string(out, y->host);
        fprintf(out,
                ", \"over\": \"%s\", \"messages\": %s, \"puts\": %s, \"ping_us\": %.3f, "
                "\"put_us\": %.3f, \"put_gbs\": %.3f}%s\n",
                y->network, y->messages ? "true" : "false", y->puts ? "true" : "false", y->ping_us,
                y->put_us, y->put_gbs, i + 1 < w->n ? "," : "");
    }
    fprintf(out, "  ],\n  \"between\": ");
    put_string(out, w->failed ? faults[w->fault].name : "");
}

void write_json(const struct report *r, FILE *out)
{
    fprintf(out, "{\n  \"windrose_doctor\": 1,\n  \"host\": ");
    put_string(out, r->host);
    fprintf(out, ",\n  \"limits\": [\n");
    for (int i = 0; i < r->nnotes; i++) {
        fprintf(out, "    {\"name\": ");
        put_string(out, r->note[i].name);
        fprintf(out, ", \"value\": ");
        put_string(out, r->note[i].value);
        fprintf(out, ", \"set\": ");
        put_string(out, r->note[i].advice);
        fprintf(out, "}%s\n", i + 1 < r->nnotes ? "," : "");
    }
    fprintf(out, "  ],\n  \"networks\": [\n");
    for (int i = 0; i < r->nnetworks; i++) {
        json_network(&r->network[i], out);
        fprintf(out, "%s\n", i + 1 < r->nnetworks ? "," : "");
    }
    fprintf(out, "  ]");
    if (r->ways)
        json_ways(r->ways, out);
    fprintf(out, "\n}\n");
}
