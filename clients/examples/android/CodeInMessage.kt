package com.example.login

/** The code in a message, by the same patterns as the login form for pages. It needs nothing of Android. */
object CodeInMessage {
    private val alone = Regex("[0-9](?: ?[0-9]){5}")
    private val lastLine = Regex("""(?:^|\n)@([^ \n]+) #([0-9]+)(?: @[^ \n]+)?$""", RegexOption.IGNORE_CASE)
    private val numbers = listOf(
        // Not a code: an address, a phone number, an amount, a postal code, the number of an order or of an account.
        """[a-z]+:\/\/[^ \n]+""",
        """[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}\/[^ \n]*""",
        """\+91[ -]?\(?[0-9](?:[ ()-]{0,2}[0-9]){9}(?![0-9])""",
        """\(?0[0-9]{2,4}\)?[ -]{1,2}[0-9]{6,8}(?![0-9])""",
        """18[06]0(?:[ -]{0,3}[0-9]){6,7}(?![0-9])""",
        """[6-9][0-9]{3} [0-9]{6}(?![0-9])""",
        """(?:call|dial|helpline|toll[ -]?free|कॉल|हेल्पलाइन)(?: (?:us|at|on|to|is|no\.?|number|नंबर|करें))*[ :-]{1,3}[0-9]{6}(?![0-9])""",
        """sms [\p{L}\p{M}]+ to [0-9]{6}(?![0-9])""",
        """[0-9]{6} पर (?:कॉल|sms)""",
        """(?:₹|rs(?!\p{L})\.?|inr|रु(?![\p{L}\p{M}])\.?|रुपये)[ :]{0,2}[0-9]+(?:,[0-9]+)*(?:\.[0-9]{1,2}(?![0-9]))?""",
        """[0-9]+(?:,[0-9]+)*(?:\.[0-9]{1,2})? ?(?:\/-|(?:rs|inr|rupees?|रुपये|रुपए|रु)(?![\p{L}\p{M}]|\.? ?[0-9]))""",
        """(?:pin ?-?code|postal code|zip(?: code)?|पिन ?-?कोड)[ :.-]{0,3}[0-9]{3} ?[0-9]{3}(?![0-9])""",
        """(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर)(?: ?(?:id|no\.?|number|नंबर)| ?#)(?: is)?[ :.#-]{0,3}[0-9]{6}(?![0-9])""",
        // Perhaps the number of an order: then there is no code.
        """(?:order|ord|ref|reference|txn|transaction|booking|ticket|invoice|complaint|account|a\/c|customer|policy|awb|pnr|ऑर्डर)[ :.#-]{1,3}([0-9]{6})(?![0-9])""",
        // A group that is said to be the code, before or after it; another group; a run.
        """(?:otp|code|कोड|ओटीपी)(?: is)?[ :-]{1,3}([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?![\p{L}\p{M}0-9_+\/@=]|[ .,:-][0-9])""",
        """([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?= is )""",
        """[0-9]{1,5}[ -][0-9]{3}[ -][0-9]{3}(?![0-9])""",
        """([0-9]{3}(?: ?- ?| {1,2})[0-9]{3})(?![\p{L}\p{M}0-9_+\/@=]|[ .,:-][0-9])""",
        """([0-9]{6})(?![\p{L}\p{M}0-9_+\/@=]|[.,:-][0-9])""",
        // Dates, times, versions; digits that belong to a word; whole words, so that none is looked into.
        """[0-9]+(?:[.,:\/-][0-9]+)+""",
        """(?:[+\/_]|\*\*)[0-9]+""",
        """[\p{L}\p{M}0-9_]+""",
    ).joinToString("|").toRegex(RegexOption.IGNORE_CASE)

    /**
     * The six digits: the code alone, or that of a whole message. A last line `@domain #code` of [domain] or one above it
     * decides. Otherwise it is the only run of six digits that is no date, time, phone number or amount; without any run,
     * the only group of three and three. Otherwise nothing, since a wrong code costs one of five tries.
     *
     * @param domain `--webotp-domain` of the project, if it has one
     */
    fun read(message: String, domain: String? = null): String? {
        val text = plain(message.take(2000)).trim()
        if (alone.matches(text)) return text.replace(" ", "")
        lastLine.find(text)?.destructured?.let { (host, code) ->
            if (domain != null && ".${domain.lowercase()}".endsWith(".${host.lowercase()}")) return code.takeIf { it.length == 6 }
        }
        val runs = mutableSetOf<String>()
        val groups = mutableSetOf<String>()
        for (match in numbers.findAll(text)) {
            val (id, said, saidFirst, group, run) = match.groupValues.drop(1).map { it.filter(Char::isDigit) }
            if (id != "") return null
            listOf(said, saidFirst, run).filterTo(runs) { it != "" }
            if (group != "") groups += group
        }
        return runs.ifEmpty { groups }.singleOrNull()
    }

    /** ASCII digits for those of other scripts, one kind of space, dash and line end, and nothing that is invisible. */
    private fun plain(text: String) = text.replace(Regex("\\p{Cf}"), "").replace(Regex("\r\n?"), "\n")
        .map { character ->
            when {
                character.isDigit() -> '0' + character.digitToInt()
                character != '\n' && character.isWhitespace() -> ' '
                character.category == CharCategory.DASH_PUNCTUATION || character == '\u2212' -> '-'
                else -> character
            }
        }.joinToString("")
}
