"""Every detector measured on the same labelled answers.

Examples are what people labelled, runs what detectors said of them, metrics what follows from both. Nothing
here is needed to judge; scikit-learn draws the curves and comes with the extra ``bench``.
"""
