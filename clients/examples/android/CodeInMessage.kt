package com.example.login

/** The code in a message, by the same patterns as the login form for pages. It needs nothing of Android. */
object CodeInMessage {
    private val alone = Regex("""^[*_("'\[]*([0-9](?: ?[0-9]){5}|[0-9]{3} ?- ?[0-9]{3})[*_)"'\].,;!]*$""")
    private val lastLine = Regex("""(?:^|\n)@([^ \n]+) #([0-9]+)(?: @[^ \n]+)?$""", RegexOption.IGNORE_CASE)
    // Public suffixes, under which anyone can register a domain. They do not count as a domain above that of the
    // project.
    private val shared = Regex("""^(?:[^.]+|(?:ac|co|com|edu|firm|gen|gov|ind|mil|net|nic|org|res)\.[a-z]{2})$""", RegexOption.IGNORE_CASE)
    private val numbers = listOf(
        // Not a code: an address, a phone number, an amount, a postal code, a date, a time, the number of an order or of a card.
        """[a-z]+:\/\/[^ \n]+""",
        """[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}\/[^ \n]*""",
        """\+91[ -]?\(?[0-9](?:[ ()-]{0,2}[0-9]){9}(?![0-9])""",
        """\(?0[0-9]{2,4}\)?[ -]{1,2}[0-9]{6,8}(?![0-9])""",
        """18[06]0(?:[ -]{0,3}[0-9]){6,7}(?![0-9])""",
        """[6-9][0-9]{3} [0-9]{6}(?![0-9])""",
        """(?:call|dial|helpline|toll[ -]?free|(?:customer )?care|support|help ?desk|कॉल|हेल्पलाइन)(?: (?:us|at|on|to|is|no\.?|number|नंबर|करें))*[ :=*(-]{1,3}[0-9]{6}(?![0-9])""",
        """sms [\p{L}\p{M}]+ to [0-9]{6}(?![0-9])""",
        """[0-9]{6} पर (?:कॉल|sms|संपर्क|फ़ोन|फोन)""",
        """(?:[₹\$€£]|rs(?!\p{L})\.?|inr|usd|रु(?![\p{L}\p{M}])\.?|रुपये)[ :]{0,2}[0-9]+(?:,[0-9]+)*(?:\.[0-9]{1,2}(?![0-9]))?""",
        """[0-9]+(?:,[0-9]+)*(?:\.[0-9]{1,2})? ?(?:\/-|(?:rs|inr|usd|rupees?|रुपये|रुपए|रु)(?![\p{L}\p{M}]|\.? ?[0-9]))""",
        """(?:(?:pin|postal|zip)(?: ?-?code)?|[mt]pin|पिन(?: ?-?कोड)?)(?: (?:is|of|no\.?|number|नंबर))*[ :.=*(-]{0,3}[0-9]{3} ?[0-9]{3}(?![0-9])""",
        """(?:amount|amt\.?|total|balance|bal\.?|limit|emi|fee|price|date|dated|dt\.?|dob|time|expiry|validity|राशि|कुल|दिनांक|तारीख|समय)(?: (?:at|on|to|is|was|of|due|paid|payable))*[ :=*(-]{1,3}[0-9]{6}(?![0-9])""",
        """(?:on|of|at|by|to|for|till?|until|up ?to|before|after|since|expires|expired|valid|ending|ends|contact|ph\.?|tel\.?|card|pay|paid|due|worth|debited|credited|संपर्क|कार्ड)(?: (?:us|at|on|to|by|for|with|in|of|no\.?|number|नंबर|करें))*[ :=*(-]{1,3}[0-9]{6}(?![0-9])""",
        """(?:id|no\.?|number|phone|mobile|whatsapp|नंबर)[ #*(]{1,3}[0-9]{6}(?![0-9])""",
        """[0-9]{6} ?(?:hrs?|hours?|ist|gmt|utc|[ap]\.?m\.?|बजे|तक|points?|units?|(?:(?:was|were|is|has been|have been|will be) )?(?:paid|debited|credited|received|refunded|deducted|charged|spent|transferred|withdrawn))(?![\p{L}\p{M}])""",
        """[0-9]{6} is (?:your|the|our) (?:(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|bill|statement|receipt|challan|loan|consumer|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर|card|employee|user|client|member|membership|registration|application|folio|tracking|shipment|request|case) ?(?:id|no\.?|number)|(?:pin|postal|zip) ?-?code|(?:atm |card |upi |m)?pin|amount|balance|total|(?:customer )?care|helpline|toll[ -]?free)(?![\p{L}\p{M}]| (?:otp|code|verification))""",
        """(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|bill|statement|receipt|challan|loan|consumer|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर|card|employee|user|client|member|membership|registration|application|folio|tracking|shipment|request|case)(?: ?(?:id|no\.?|number|नंबर)| ?#)(?: is)?[ :.#-]{0,3}[0-9]{6}(?![0-9])""",
        // Perhaps the number of an order: then there is no code.
        """(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|bill|statement|receipt|challan|loan|consumer|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर)[ :.#-]{1,3}([0-9]{6})(?![0-9])""",
        // Another kind of code, or a warning about codes: neither says that this message has a code.
        """(?:promo|coupon|discount|offer|voucher|gift|referral|invite|error|status|area|std|country|branch|ifsc|hsn|qr|pin|postal|zip|पिन|कूपन|प्रोमो)[ -]?(?:codes?|कोड)(?![\p{L}\p{M}0-9_])(?:(?: is)?[ :=*(-]{1,3}[0-9]{6}(?![0-9]))?""",
        """(?:never(?: ever)? (?:share|disclose|reveal|give|asks?)|(?:not|don['’]t|doesn['’]t|won['’]t) ask)(?:[ ,\/&]{1,3}(?:you|for|any|your|an?|or|and|otps?|[a-z]?pins?|cvv|passwords?|passcodes?|codes?))+(?![\p{L}\p{M}0-9_]|[ :-]{1,3}[0-9])""",
        // A group of three and three next to a word for a code; another such group; a run of six; a word for a code.
        """(?:otp|code|कोड|ओटीपी)(?: is)?[ :-]{1,3}([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?![\p{L}\p{M}0-9_+\/@=]|[ .,:-][0-9])""",
        """([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?= is )""",
        """[0-9]{1,5}[ -][0-9]{3}[ -][0-9]{3}(?![0-9])""",
        """([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?![\p{L}\p{M}0-9_+\/@=]|[ .,:-][0-9])""",
        """([0-9]{6})(?![\p{L}\p{M}0-9_+\/@=]|[.,:-][0-9])""",
        """((?:otps?|o\.t\.p|codes?|passcodes?|passwords?|verification|verify|authentication|ओटीपी|कोड|पासकोड|पासवर्ड|सत्यापन|ওটিপি|কোড|ઓટીપી|કોડ|ਓਟੀਪੀ|ਕੋਡ|ஓடிபி|குறியீடு|ఓటీపీ|కోడ్|ಒಟಿಪಿ|ಕೋಡ್|ഒടിപി|കോഡ്|ଓଟିପି|କୋଡ୍|کوڈ)(?: (?:no\.?|number|नंबर))?)(?![\p{L}\p{M}0-9_])""",
        // Dates, times, versions; digits within a word; whole words, so that no part of a word matches.
        """[0-9]+(?:[.,:\/-][0-9]+)+""",
        """(?:[+\/_]|\*\*)[0-9]+""",
        """[\p{L}\p{M}0-9_]+""",
    ).joinToString("|").toRegex(RegexOption.IGNORE_CASE)

    /**
     * The six digits: the code alone, or that of a whole message. If the last line is `@domain #code` for [domain] or
     * one above it, its code counts; with another domain, the rest of the message must contain the same code. Otherwise
     * the message must contain a word such as OTP: then it is the only run of six digits that is not a date, time,
     * phone number, amount or PIN; without any run, the only group of three and three. Otherwise nothing, since a wrong
     * code costs one of five tries.
     *
     * @param domain `--webotp-domain` of the project, if it has one
     */
    fun read(message: String, domain: String? = null): String? {
        val text = plain(message.take(2000)).trim()
        alone.find(text)?.let { return it.groupValues[1].filter(Char::isDigit) }
        val line = lastLine.find(text) ?: return readText(text)
        val (host, bound) = line.destructured
        if (domain != null && covers(host.lowercase(), domain.lowercase())) return bound.takeIf { it.length == 6 }
        return readText(text.take(line.range.first)).takeIf { it == bound }
    }

    /** The code in a message, without its last line for browsers. */
    private fun readText(text: String): String? {
        val runs = mutableSetOf<String>()
        val groups = mutableSetOf<String>()
        var named = false
        for (match in numbers.findAll(text)) {
            val (id, said, saidFirst, group, run) = match.groupValues.drop(1).map { it.filter(Char::isDigit) }
            if (id != "") return null
            if (said != "" || match.groupValues[6] != "") named = true
            listOf(said, saidFirst, run).filterTo(runs) { it != "" }
            if (group != "") groups += group
        }
        return if (named) runs.ifEmpty { groups }.singleOrNull() else null
    }

    private fun covers(host: String, domain: String) =
        host == domain || (".$domain".endsWith(".$host") && !shared.matches(host))

    /** Normalises a text: ASCII digits, one kind of space, dash and line end, and no invisible characters. */
    private fun plain(text: String) = buildString {
        val visible = text.replace(Regex("\\p{Cf}"), "").replace(Regex("\r\n?"), "\n")
        var at = 0
        while (at < visible.length) {
            // Some scripts have their digits beyond 16 bits.
            val point = visible.codePointAt(at)
            when {
                Character.isDigit(point) -> append(Character.digit(point, 10))
                visible[at] != '\n' && visible[at].isWhitespace() -> append(' ')
                Character.getType(point) == Character.DASH_PUNCTUATION.toInt() || visible[at] == '\u2212' -> append('-')
                else -> appendCodePoint(point)
            }
            at += Character.charCount(point)
        }
    }
}
